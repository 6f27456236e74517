/** The exit codes, as every command's help shows them. */
export const EXIT_CODES = `Exit codes:
  0 done, or in sync
  1 failed, or declined
  2 differences (drift; plan --exit-code)
  3 usage, settings or references not valid; nothing written
  4 the service refused the key
  5 a guard or the policy refused the plan, or would (plan --exit-code)
  6 the saved plan or snapshot does not cover this
  7 applied in part
  8 applied, but not converged
  9 timed out
  130, 143 interrupted`;
