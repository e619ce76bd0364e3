import { expect, test } from "vitest"
import type { Documents, StoredDocument } from "../../core/documents.ts"
import type { RuleContext } from "./flaws.ts"
import { rulesApi } from "./rules-api.ts"
import { tools } from "../testing.ts"

const known: RuleContext = {
  ...tools,
  tools: () => [],
  groups: () => [],
  roles: () => [],
  departments: () => [],
  agents: () => [],
  view: () => undefined,
  touches: () => ({ list: [], proved: true }),
  workspace: "/work",
}

/** Stored rules that count how often each is read. */
function open(ids: readonly string[]) {
  const reads = new Map<string, number>()
  const documents = new Map<string, StoredDocument>()
  const state = { version: 0 }
  const put = (id: string, because: string, live = true) => {
    const body = {
      deny: "probe",
      get because() {
        reads.set(id, (reads.get(id) ?? 0) + 1)
        return because
      },
    }
    const change = ++state.version
    documents.set(id, { kind: "rule", id, name: null, live, body, changedAt: 0, changedBy: "ann", change })
  }
  for (const id of ids) put(id, "So.")
  const store = {
    get version() {
      return state.version
    },
    all: () => documents.values(),
  } as unknown as Documents
  const api = rulesApi(store, { rules: [] }, { ...known, personSince: () => undefined })
  const stored = () => api.list().filter(({ source }) => source.startsWith("rule "))
  return { reads, put, stored, other: () => state.version++ }
}

test("a stored rule is read once for each change of its own, whatever else changes", () => {
  const { reads, put, stored, other } = open(["a", "b"])
  const before = stored()
  const once = reads.get("a")!
  other()
  expect(stored().every((rule, index) => rule === before[index])).toBe(true)
  put("b", "Other words.")
  expect(stored().map(({ because }) => because)).toEqual(["So.", "Other words."])
  expect(stored()[0]).toBe(before[0])
  expect([reads.get("a"), reads.get("b")]).toEqual([once, 2 * once])
})

test("a rule that was taken away and comes back counts as it is then", () => {
  const { put, stored } = open(["a"])
  expect(stored()).toHaveLength(1)
  put("a", "So.", false)
  expect(stored()).toEqual([])
  put("a", "Again.")
  expect(stored().map(({ because }) => because)).toEqual(["Again."])
})
