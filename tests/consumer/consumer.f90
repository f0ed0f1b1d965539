! consumer.c in Fortran.
program consumer
  use steelyard
  implicit none
  character(len=120) :: version, message
  integer :: status

  call steelyard_step()
  call steelyard_step(status)
  call omp_balanced()
  call steelyard_version(version, len(version))
  call steelyard_message(message, len(message))
  print '(4a)', 'consumer in Fortran: version ', trim(version), ', ', trim(message)
  if (status /= STEELYARD_INACTIVE) error stop 'the step was not inactive'
  if (index(message, 'steelyard run') == 0) error stop 'the message does not say how to start the program'
  if (steelyard_active()) error stop 'active without the launcher'
end program
