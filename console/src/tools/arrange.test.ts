import { describe, expect, test } from "vitest"
import type { ToolInfo } from "../../../src/interfaces/http/routes/tool-schemas.ts"
import { findTools, groupTools } from "./arrange.ts"

const tool = (name: string, more: Partial<ToolInfo> = {}) =>
  ({ name, group: "workspace", layer: "system", version: "1.0.0", tags: [], description: "", ...more }) as ToolInfo

const tools = [
  tool("write_file", { effect: "write", description: "Write a file." }),
  tool("run_command", { group: "command", effect: "execute" }),
  tool("read_file", { version: "1.9.0" }),
  tool("read_file", { version: "1.10.0", layer: "agent:dev", quarantine: "It is new." }),
]
const names = (found: readonly ToolInfo[]) => found.map(({ name }) => name)

describe("finding tools", () => {
  test.each([
    ["", ["write_file", "run_command", "read_file", "read_file"]],
    ["execute", ["run_command"]],
    ["FILE write", ["write_file"]],
    ["agent:dev", ["read_file"]],
    ["nothing", []],
  ])("'%s' finds %j", (search, found) => expect(names(findTools(tools, search))).toEqual(found))
})

describe("grouping tools", () => {
  test("is by group and name, the newest version first", () => {
    const groups = groupTools(tools, "group")
    expect(groups.map(({ name }) => name)).toEqual(["command", "workspace"])
    expect(groups[1]?.tools.map(({ name, version }) => `${name} ${version}`)).toEqual([
      "read_file 1.10.0",
      "read_file 1.9.0",
      "write_file 1.0.0",
    ])
    expect(groups[1]?.toLookAt).toBe(1)
  })

  test("is by layer where that is wanted", () => {
    expect(groupTools(tools, "layer").map(({ name }) => name)).toEqual(["agent:dev", "system"])
  })
})
