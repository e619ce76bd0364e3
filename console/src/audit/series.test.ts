import { expect, test } from "vitest"
import { stacked, sumByDay } from "./series.ts"

const hour = (at: number, ran: number, p50: number | null = null) => ({
  at,
  ran,
  failed: 1,
  notApproved: 0,
  refused: 2,
  p50,
  p95: null,
  waited: 0,
  waitP50: null,
  waitP95: null,
})

test("bars are stacked from the calls that ran to those that were refused", () => {
  expect(stacked([hour(0, 5), hour(1, 0)])).toEqual([
    [5, 0],
    [6, 1],
    [6, 1],
    [8, 3],
  ])
})

test("hours of one day become one bar, with the highest of their times", () => {
  const noon = new Date(2026, 10, 17, 12).getTime()
  const hours = [hour(noon, 5), hour(noon + 3_600_000, 1, 12), hour(noon + 24 * 3_600_000, 2)]
  const days = sumByDay(hours)
  expect(days.map(({ at, ran, p50 }) => [at, ran, p50])).toEqual([
    [new Date(2026, 10, 17).getTime(), 6, 12],
    [new Date(2026, 10, 18).getTime(), 2, null],
  ])
})
