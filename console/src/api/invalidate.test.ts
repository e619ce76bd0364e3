import { expect, test } from "vitest"
import { topicsOf } from "./invalidate.ts"
import { eventNames } from "./stream.ts"

test("a change of a call makes the inbox old", () => {
  expect(topicsOf({ name: "call", data: { callId: "c1", state: "waiting" } })).toContain("approvals")
})

test("a freeze makes the person's page old, and a rule the suggestions", () => {
  expect(topicsOf({ name: "document", data: { kind: "freeze", id: "f1" } })).toEqual(["me", "approvals", "chat", "org"])
  expect(topicsOf({ name: "document", data: { kind: "rule", id: "r1" } })).toContain("suggestions")
})

test("a resync makes everything old that any other event does", () => {
  const everything = topicsOf({ name: "resync", data: {} })
  for (const name of eventNames) expect(everything).toEqual(expect.arrayContaining([...topicsOf({ name, data: {} })]))
})

test("output and pieces of an answer read nothing again", () => {
  expect(topicsOf({ name: "output", data: { callId: "c1", chunk: "x" } })).toEqual([])
  expect(topicsOf({ name: "answer", data: { conversationId: "c1", text: "x" } })).toEqual([])
})
