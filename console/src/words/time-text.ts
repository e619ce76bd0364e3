import type { Words } from "./en.ts"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** 4:12, 1:02:05: how long somebody can still answer. Never below 0:00. */
export function clockText(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000))
  const h = Math.floor(seconds / 3600)
  const m = Math.floor((seconds % 3600) / 60)
  return h > 0 ? `${h}:${two(m)}:${two(seconds % 60)}` : `${m}:${two(seconds % 60)}`
}

/** Describes the time left to answer: as a clock within a day, in days beyond it. */
export function leftText(milliseconds: number, words: Words): string {
  return milliseconds < 2 * day ? clockText(milliseconds) : spanText(milliseconds, words)
}

/** 48 s, 3 min, 3 h 12 min, 2 days. */
export function spanText(milliseconds: number, { time }: Words): string {
  if (milliseconds < minute) return time.seconds(Math.max(1, Math.floor(milliseconds / 1000)))
  if (milliseconds < hour) return time.minutes(Math.floor(milliseconds / minute))
  if (milliseconds < day) return time.hours(Math.floor(milliseconds / hour), Math.floor((milliseconds % hour) / minute))
  return time.days(Math.floor(milliseconds / day))
}

/** Describes a duration: <1 ms, 12 ms, 1.4 s, 3 min. */
export function tookText(milliseconds: number, words: Words): string {
  if (milliseconds < 1) return words.time.milliseconds("<1")
  if (milliseconds < 1000)
    return words.time.milliseconds(milliseconds < 10 ? oneDigit(milliseconds) : Math.round(milliseconds))
  if (milliseconds < minute) return words.time.seconds(oneDigit(milliseconds / 1000))
  return spanText(milliseconds, words)
}

const oneDigit = (value: number) => Math.round(value * 10) / 10

/** "3 min ago". Under a minute it is "just now", so that it does not jump each second. */
export function agoText(milliseconds: number, words: Words): string {
  return milliseconds < minute ? words.time.justNow : words.time.ago(spanText(milliseconds, words))
}

/** 212 KB, 1.8 MB. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  for (const [unit, size] of [
    ["KB", 1e3],
    ["MB", 1e6],
    ["GB", 1e9],
  ] as const) {
    const value = bytes / size
    if (value < 999.5) return `${value < 10 ? value.toFixed(1).replace(/\.0$/, "") : Math.round(value)} ${unit}`
  }
  return `${Math.round(bytes / 1e12)} TB`
}

const two = (value: number, digits = 2) => String(value).padStart(digits, "0")

/** The time of day, 14:20:07 or 14:20:07.116. */
export function clockTime(at: number, precise = false): string {
  const date = new Date(at)
  const text = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => two(part)).join(":")
  return precise ? `${text}.${two(date.getMilliseconds(), 3)}` : text
}

const locales = { en: "en-GB", zh: "zh-CN" } as const
type Language = keyof typeof locales

/** 17 Nov 2026, 13:31:41. */
export const momentText = (at: number, language: Language): string =>
  new Date(at).toLocaleString(locales[language], { dateStyle: "medium", timeStyle: "medium" })

/** 17 Nov, or 17 Nov 2026 with the year. */
export const dateText = (at: number, language: Language, hasYear = false): string =>
  new Date(at).toLocaleDateString(locales[language], {
    day: "numeric",
    month: "short",
    ...(hasYear ? { year: "numeric" } : {}),
  })

/** "16 Nov " before the time of day of another day; nothing for today. */
export function dayText(at: number, language: Language, now = Date.now()): string {
  const date = new Date(at)
  if (date.toDateString() === new Date(now).toDateString()) return ""
  return `${dateText(at, language)} `
}
