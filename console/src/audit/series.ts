import type { Charts } from "../../../src/interfaces/http/routes/audit-schemas.ts"

type Hour = Charts["hours"][number]

/** The endings in their order, from the bottom of a bar to its top. */
export const seriesNames = ["ran", "failed", "notApproved", "refused"] as const

/** Hours added up to days of this browser's time zone. Of percentiles the highest of the day is kept. */
export function sumByDay(hours: readonly Hour[]): Hour[] {
  const days = new Map<number, Hour>()
  for (const hour of hours) {
    const at = new Date(hour.at).setHours(0, 0, 0, 0)
    const day = days.get(at)
    if (day === undefined) days.set(at, { ...hour, at })
    else
      days.set(at, {
        at,
        ran: day.ran + hour.ran,
        failed: day.failed + hour.failed,
        notApproved: day.notApproved + hour.notApproved,
        refused: day.refused + hour.refused,
        waited: day.waited + hour.waited,
        p50: highest(day.p50, hour.p50),
        p95: highest(day.p95, hour.p95),
        waitP50: highest(day.waitP50, hour.waitP50),
        waitP95: highest(day.waitP95, hour.waitP95),
      })
  }
  return [...days.values()]
}

const highest = (one: number | null, other: number | null) =>
  one === null ? other : other === null ? one : Math.max(one, other)

/** The heights of stacked bars: of each ending with all those below it. */
export function stacked(hours: readonly Hour[]): number[][] {
  return seriesNames.map((_, upTo) =>
    hours.map((hour) => seriesNames.slice(0, upTo + 1).reduce((sum, name) => sum + hour[name], 0)),
  )
}
