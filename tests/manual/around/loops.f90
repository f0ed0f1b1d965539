include 'steelyard_loops.f90'
subroutine sweep(y, n)
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use steelyard_loops
  implicit none
  integer(c_int64_t), intent(in) :: n
  real, intent(out) :: y(n)
  real, external :: f
  type(steelyard_iterations_t) :: mine
  integer(c_int64_t) :: i
@BLOCK@
end subroutine
