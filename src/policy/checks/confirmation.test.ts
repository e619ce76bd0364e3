import { expect, test } from "vitest"
import { facts } from "../testing.ts"
import { lookAtCall } from "../testing/checks.ts"
import { confirmationCheck } from "./confirmation.ts"

test.each<[unknown, string | undefined]>([
  [{ require_confirmation: true }, "require_confirmation"],
  [{ requireConfirmation: true }, "requireConfirmation"],
  [{ require_confirmation: false }, undefined],
  [{ require_confirmation: "true" }, undefined],
  [{ nested: { require_confirmation: true } }, undefined],
  [null, undefined],
  [Object.create({ require_confirmation: true }), undefined],
])("the input %j asks to be confirmed by %s", (input, parameter) => {
  const expected = {
    verdict: "ask",
    check: "confirmation",
    source: `input /${parameter}`,
    code: "confirmation_wished",
    binding: true,
    fix: `Leave out ${parameter}`,
  }
  expect(lookAtCall(confirmationCheck, facts({ input }))).toMatchObject(parameter === undefined ? [] : [expected])
})
