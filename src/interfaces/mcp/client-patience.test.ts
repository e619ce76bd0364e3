import { expect, test } from "vitest"
import { ClientPatience } from "./client-patience.ts"

const waited = { tookMs: 66_000, gaveUp: false }
const short = { tookMs: 44_000, gaveUp: false }
const cancelled = { tookMs: 2000, gaveUp: true }
const timedOut = { tookMs: 60_000, gaveUp: true }

test.each([
  ["nothing", [], false],
  ["short requests", [short, short], false],
  ["a long one", [short, waited], true],
  ["a long one, then one that somebody cancelled", [waited, cancelled], true],
  ["a long one, then one it gave up", [waited, timedOut], false],
  ["one it gave up, then a long one", [timedOut, waited], false],
])("after %s", (_, requests, lasts) => {
  const patience = new ClientPatience({ waitMs: 45_000, lastsMs: 65_000 })
  for (const request of requests) patience.note("a client", request)
  expect([patience.lasts("a client"), patience.lasts("another")]).toEqual([lasts, false])
})
