import { expect, test } from "vitest"
import type { RolePageJson } from "../../../src/interfaces/http/routes/org-page-schemas.ts"
import { changeOf, fieldsOf } from "./role-fields.ts"

const page = { role: { toolGroups: ["data", "code"], rolePrompt: "You test.", level: 2 } } as unknown as RolePageJson

test("a role that nobody touched has no change, in whatever order its groups are", () => {
  const fields = fieldsOf(page)
  expect(changeOf(fields, { ...fields, toolGroups: ["code", "data"] })).toEqual({})
})

test("only what differs is sent, and a model that is taken away is null", () => {
  const fields = { ...fieldsOf(page), model: "small" }
  expect(changeOf(fields, { ...fields, model: "", level: "1", toolGroups: null })).toEqual({
    llmServiceId: null,
    level: 1,
    toolGroups: null,
  })
})
