import { describe, expect, test } from "vitest"
import { stepNames, ticksOf, type CallFacts } from "./ticks.ts"

const call = (facts: Partial<CallFacts>): CallFacts => ({ state: "ended", asked: false, held: false, ...facts })
const row = (facts: Partial<CallFacts>) => {
  const ticks = ticksOf(call(facts))
  return stepNames.map((name) => ticks[name]).join(" ")
}

describe("the seven ticks of a call", () => {
  test.each<[string, Partial<CallFacts>, string]>([
    ["ran", {}, "done done done done skipped done skipped"],
    ["ran after a yes", { asked: true }, "done done done done done done skipped"],
    ["ran and was released", { held: true }, "done done done done skipped done done"],
    ["waits", { state: "waiting", asked: true }, "done done done done waiting open open"],
    ["runs", { state: "running" }, "done done done done skipped running open"],
    ["is held", { state: "held", held: true }, "done done done done skipped done held"],
    ["has a wrong input", { code: "invalid_arguments", ran: false }, "done done failed open open open open"],
    ["is denied", { code: "permission_denied", ran: false }, "done done done refused open open open"],
    ["was rejected", { code: "approval_rejected", asked: true }, "done done done done no open open"],
    [
      "was cancelled while it waited",
      { code: "aborted", asked: true, ran: false },
      "done done done done failed open open",
    ],
    ["failed", { code: "tool_failed", asked: true, ran: true }, "done done done done done failed open"],
    ["was denied while it ran", { code: "host_denied", ran: true }, "done done done done skipped refused open"],
    ["was withheld", { code: "result_withheld", held: true, ran: true }, "done done done done skipped done no"],
    ["ended with a code of a newer server", { code: "new_code" }, "done done done done skipped failed open"],
  ])("a call that %s", (_, facts, ticks) => expect(row(facts)).toBe(ticks))
})
