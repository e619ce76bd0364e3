/**
 * The same governed call in another build of Quartermaster and in this one, in one run. The other build is made by
 * `node bench/before.mjs <git ref>`, which sets QM_BENCH_BEFORE to its dist/index.js.
 */
import { callRow } from "./call.ours.mjs"

const before = process.env.QM_BENCH_BEFORE
if (before === undefined) throw new Error("Run it with: node bench/before.mjs <git ref>")

export const name = "One governed call, before and now"
export const reference = "before"
export const floor = "before"

const kinds = [
  { what: "", options: {} },
  { what: ", with effect write", options: { effect: "write" } },
  { what: ", 64 in flight", options: { together: 64 } },
]

export const rows = kinds.flatMap(({ what, options }) => [
  callRow({ row: `before${what}`, reference: `before${what}`, dist: before, ...options }),
  callRow({ row: `now${what}`, reference: `before${what}`, ...options }),
])
