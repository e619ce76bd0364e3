import { expect, test } from "vitest"
import type { AnswerLink } from "./answer-link.ts"
import type { PendingItem } from "../../core/approval.ts"
import type { Card } from "../card/schema.ts"
import { linkState, yesNeeds } from "./answer-rules.ts"

const cardWith = (band: Card["risk"]["band"], more: Partial<Card> = {}) =>
  ({ kind: "call", mayAnswer: true, input: {}, risk: { band, destructive: false, tags: [] }, ...more }) as Card

test.each([
  ["low", false, "nothing"],
  ["low", true, "nothing"],
  ["medium", false, "no-pin"],
  ["medium", true, "pin"],
  ["high", false, "high"],
  ["high", true, "high"],
] as const)("%s risk, a PIN is set %s: a yes needs %s", (band, hasPin, expected) => {
  const found = yesNeeds(cardWith(band), hasPin)
  expect("because" in found ? found.because : found.needs).toBe(expected)
})

test.each([
  ["would not count", { mayAnswer: false }, "not-counted"],
  ["is a form", { question: { question: "?", form: {} } }, "form"],
  ["is a thing to do elsewhere", { question: { question: "?", url: "https://a.example" } }, "form"],
  ["is longer than anybody reads", { input: { text: "x".repeat(20_000) } }, "too-long"],
  ["is an image", { preview: { kind: "image", mimeType: "image/png", data: "" } }, "form"],
] as const)("a yes that %s is for the console, whatever the risk and the PIN", (_what, more, because) => {
  for (const band of ["low", "medium"] as const)
    for (const hasPin of [true, false])
      expect(yesNeeds(cardWith(band, more as Partial<Card>), hasPin)).toEqual({ needs: "console", because })
})

const link = { callId: "c", kind: "call", revision: 1, state: "open" } as AnswerLink
const item = { callId: "c", kind: "call", revision: 1 } as PendingItem

test.each([
  ["as it was made for", link, item, true, "open"],
  ["another revision", link, { ...item, revision: 2 }, true, "changed"],
  ["nothing that waits", link, undefined, true, "gone"],
  ["the result of the call, under the same id", link, { ...item, kind: "result" }, true, "gone"],
  ["a person who may not answer any more", link, item, false, "void"],
  ["a used link", { ...link, state: "used" }, item, true, "used"],
  ["a link that is too old", { ...link, state: "expired" }, item, true, "expired"],
  ["a link with three wrong PINs", { ...link, state: "ended" }, item, true, "ended"],
  ["a link whose person is gone", { ...link, state: "void" }, item, true, "void"],
] as const)("%s", (_what, given, waiting, mayApprove, expected) => {
  expect(linkState(given, waiting, mayApprove)).toBe(expected)
})
