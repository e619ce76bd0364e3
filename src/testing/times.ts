/** The number of repetitions: few in the full tests, many in the soak, which runs the same file again. */
export function times(few: number, many: number): number {
  return process.env["QM_TEST_SOAK"] === undefined ? few : many
}
