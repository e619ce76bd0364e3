/** Whether this is only to show that every row still runs: little data, short measuring, figures that mean nothing. */
export const isSmoke = process.env.QM_BENCH_SMOKE === "1"
