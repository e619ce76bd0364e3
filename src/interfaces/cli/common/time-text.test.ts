import { expect, test } from "vitest"
import { formatTime, parseMoment, formatDuration } from "./time-text.ts"

const now = Date.parse("2026-03-10T12:00:00Z")

test.each([
  ["30s", now - 30_000],
  ["15m", now - 900_000],
  ["2h", now - 7_200_000],
  ["3d", now - 259_200_000],
  ["1w", now - 604_800_000],
  ["2026-03-01T08:00Z", Date.parse("2026-03-01T08:00:00Z")],
  ["2026-03-01T08:00:01.5+08:00", Date.parse("2026-03-01T00:00:01.500Z")],
  ["2026-03-01", new Date(2026, 2, 1).getTime()],
])("%s is a moment", (text, at) => expect(parseMoment(text, now)).toBe(at))

test.each(["", "2", "h", "2 h", "-2h", "2y", "yesterday", "2026", "2026-13-40", "10/03/2026", "2026-03-01T99:00"])(
  "'%s' is refused with what to write instead",
  (text) => expect(() => parseMoment(text, now)).toThrow(`2h or 3d, and '${text}' is neither.`),
)

test("a moment is written in local time and read back as itself", () => {
  const at = new Date(2026, 0, 5, 7, 8, 9, 10).getTime()
  expect(formatTime(at)).toBe("2026-01-05 07:08:09")
  expect(formatTime(at, { milliseconds: true })).toBe("2026-01-05 07:08:09.010")
  expect(parseMoment(formatTime(at, { milliseconds: true }).replace(" ", "T"), now)).toBe(at)
})

test.each([
  [-5, "0s"],
  [999, "0s"],
  [45_000, "45s"],
  [185_000, "3m 5s"],
  [180_000, "3m"],
  [7_200_000 + 5000, "2h"],
  [86_400_000 * 4 + 3_600_000, "4d 1h"],
  [86_400_000 * 30, "30d"],
])("%i milliseconds are %s", (milliseconds, text) => expect(formatDuration(milliseconds)).toBe(text))

test("the message names the wrong option", () => {
  expect(() => parseMoment("soon", now, "--before")).toThrow("--before takes a date")
})
