const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** A span of time in words, rounded down: seconds, minutes, hours or days, whichever are at least two. */
export function spanWords(ms: number): string {
  if (ms < 2 * minute) return many(Math.max(1, Math.floor(ms / 1000)), "second")
  if (ms < 2 * hour) return many(Math.floor(ms / minute), "minute")
  return ms < 2 * day ? many(Math.floor(ms / hour), "hour") : many(Math.floor(ms / day), "day")
}

function many(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`
}
