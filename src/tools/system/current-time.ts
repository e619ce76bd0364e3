import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { failure } from "../../core/ending.ts"

/** Returns the current time, in any time zone. */
export const currentTime = (now: () => number = Date.now) =>
  defineTool({
    name: "current_time",
    group: "system",
    category: "system",
    description: "Tell the current date and time, optionally in a given time zone.",
    effect: "none",
    input: () =>
      z.object({ timezone: z.string().min(1).optional().describe("An IANA name, for example Asia/Shanghai") }),
    output: () => z.object({ timestamp: z.number(), iso: z.string(), timezone: z.string() }),

    execute({ timezone = localZone() }) {
      const timestamp = now()
      return { timestamp, iso: isoIn(timestamp, timezone), timezone }
    },
  })

/** Making a format takes longer than all the rest of a call, so the offsets are kept. They change at full quarters of an hour. */
const offsets = new Map<string, { quarter: number; minutes: number }>()
const mostOffsets = 50
const quarterMs = 15 * 60_000
let local: string | undefined

function localZone(): string {
  return (local ??= Intl.DateTimeFormat().resolvedOptions().timeZone)
}

/** ISO 8601 with the zone's own offset. */
function isoIn(timestamp: number, timeZone: string): string {
  const offset = offsetMinutes(timestamp, timeZone)
  const local = new Date(timestamp + offset * 60_000).toISOString().slice(0, -1)
  if (offset === 0) return `${local}Z`
  const size = Math.abs(offset)
  const clock = [Math.floor(size / 60), size % 60].map((part) => String(part).padStart(2, "0")).join(":")
  return `${local}${offset < 0 ? "-" : "+"}${clock}`
}

function offsetMinutes(timestamp: number, timeZone: string): number {
  const quarter = Math.floor(timestamp / quarterMs)
  const known = offsets.get(timeZone)
  if (known?.quarter === quarter) return known.minutes
  const minutes = readOffset(timestamp, timeZone)
  if (known !== undefined || offsets.size < mostOffsets) offsets.set(timeZone, { quarter, minutes })
  return minutes
}

function readOffset(timestamp: number, timeZone: string): number {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" })
  } catch {
    throw failure(`'${timeZone}' is not a time zone. Use an IANA name, for example Europe/Berlin or UTC.`, {
      toolCode: "unknown_timezone",
    })
  }
  const name = format.formatToParts(timestamp).find((part) => part.type === "timeZoneName")?.value ?? "GMT"
  const [, sign, hours = "0", minutes = "0"] = /GMT(?:([+-])(\d+):?(\d+)?)?/.exec(name) ?? []
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
