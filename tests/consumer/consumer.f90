! SPDX-License-Identifier: BSD-3-Clause
! consumer.c in Fortran.
program consumer
  use steelyard
  implicit none
  character(len=120) :: version, message, name
  integer :: status

  call steelyard_step()
  call steelyard_step(status)
  call omp_balanced()
  call steelyard_version(version)
  call steelyard_message(message)
  print '(4a)', 'consumer in Fortran: version ', trim(version), ', ', trim(message)
  call steelyard_status_name(status, name)
  if (name /= 'STEELYARD_INACTIVE') error stop 'the status has another name'
  if (steelyard_version_number() /= 10000 * STEELYARD_VERSION_MAJOR + 100 * STEELYARD_VERSION_MINOR + &
    STEELYARD_VERSION_PATCH) error stop 'the module and the library differ in their version'
  if (status /= STEELYARD_INACTIVE) error stop 'the step was not inactive'
  if (index(message, 'steelyard run') == 0) error stop 'the message does not say how to start the program'
  if (steelyard_active()) error stop 'active without the launcher'
end program
