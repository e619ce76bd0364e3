import { UsageError } from "./usage.ts"

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Parses an age (`2h`, `3d` before now) or a date with or without a time (local time unless it has a zone). */
export function parseMoment(text: string, now: number, flag = "--since"): number {
  const [, count, unit] = /^(\d{1,9})([smhdw])$/.exec(text) ?? []
  if (count !== undefined && unit !== undefined) return now - Number(count) * (units[unit] ?? 0)
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text
  const at = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(date) ? Date.parse(date) : NaN
  if (!Number.isNaN(at)) return at
  throw new UsageError(
    `${flag} takes a date such as 2026-01-31 or 2026-01-31T08:00Z, or an age such as 2h or 3d, and '${text}' is neither.`,
  )
}

/** Parses a duration: `12h`, `90d`. */
export function parseDuration(text: string, flag: string): number {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  const milliseconds = Number(count) * (units[unit ?? ""] ?? 0)
  if (milliseconds > 0) return milliseconds
  throw new UsageError(`${flag} takes a time such as 12h, 90d or 4w, or never, and '${text}' is none.`)
}

/** Parses a time to come: `2h` or `30d` from now, or a date with or without a time. */
export function parseTimeAhead(text: string, now: number, flag: string): number {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  const at = count === undefined ? parseMoment(text, now, flag) : now + Number(count) * (units[unit ?? ""] ?? 0)
  if (at > now) return at
  throw new UsageError(`${flag} takes a time to come, such as 2h, 30d or 2026-12-31T18:00Z, and '${text}' is over.`)
}

/** Formats a time in local time. */
export function formatTime(at: number, { milliseconds = false } = {}): string {
  const date = new Date(at)
  const two = (value: number) => String(value).padStart(2, "0")
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-")
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":")
  return `${day} ${time}${milliseconds ? `.${String(date.getMilliseconds()).padStart(3, "0")}` : ""}`
}

/** Formats a duration in its two largest units: `45s`, `3m 5s`, `2h`, `4d 1h`. */
export function formatDuration(milliseconds: number): string {
  let left = Math.max(0, Math.floor(milliseconds / 1000))
  const parts = (["d", "h", "m", "s"] as const).map((unit) => {
    const size = (units[unit] ?? 1000) / 1000
    const count = Math.floor(left / size)
    left -= count * size
    return { count, unit }
  })
  const first = parts.findIndex(({ count }) => count > 0)
  if (first === -1) return "0s"
  const shown = parts.slice(first, first + 2).filter(({ count }) => count > 0)
  return shown.map(({ count, unit }) => `${count}${unit}`).join(" ")
}
