import { z } from "zod"
import type { Rule } from "../../core/rule.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { type RuleContext } from "../rules/flaws.ts"
import { agent, registered, role, rule, tools } from "../testing.ts"

const readFile = registered({
  name: "read_file",
  group: "workspace",
  effect: "read",
  touches: true,
  input: z.object({ path: z.string(), limit: z.number().optional() }) as never,
})
const moveFile: RegisteredTool = {
  ...registered({ name: "move_file", group: "workspace", effect: "write" }),
  touches: (input) => [{ kind: "write", what: (input as { path: string }).path }],
}
const setEnv = registered({
  name: "set_env",
  group: "system",
  effect: "write",
  input: z.object({ key: z.string() }) as never,
})

export const known: RuleContext = {
  ...tools,
  tools: () => [readFile, moveFile, setEnv],
  groups: () => ["workspace", "system", "empty"],
  roles: () => [role("developer"), role("helper", { madeBy: "agent" })],
  departments: () => ["north"],
  agents: () => ["ada", "bob"],
  view: (id) => (id === "ada" || id === "bob" ? agent({ id }) : undefined),
  touches: (tool, input) => ({ list: tool.touches?.(input) ?? [], proved: true }),
  workspace: "/work",
}

export const wide = (verdict: Rule["verdict"], change: Partial<Rule> = {}) =>
  rule(verdict, "*", { source: "wide", ...change })
export const narrow = (verdict: Rule["verdict"], change: Partial<Rule> = {}) =>
  rule(verdict, "read_file", { source: "narrow", ...change })
