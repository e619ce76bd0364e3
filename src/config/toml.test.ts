import { expect, test } from "vitest"
import { readToml, withoutTable, withTable } from "./toml.ts"

const path = ["mcp_servers", "qm"] as const
const entry = { command: "qm", args: ["mcp", "--agent", "dev"], required: true }
const written = '[mcp_servers.qm]\ncommand = "qm"\nargs = [ "mcp", "--agent", "dev" ]\nrequired = true\n'

test.each([
  ["", written],
  ["# mine\nmodel = 'x' # best\n", `# mine\nmodel = 'x' # best\n\n${written}`],
  ["[a]\nb = 1", `[a]\nb = 1\n\n${written}`],
  [
    `[mcp_servers.qm]\ncommand = "old"\n\n[mcp_servers.qm.env]\nA = "1"\n\n# others\n[mcp_servers.other]\ncommand = "x"\n`,
    `\n# others\n[mcp_servers.other]\ncommand = "x"\n\n${written}`,
  ],
])("a table is put in, and everything else stays: %j", (before, after) => {
  const text = withTable(before, path, entry)
  expect(readToml(text)["mcp_servers"]).toMatchObject({ qm: entry })
  if (!before.includes("old")) expect(text).toBe(after)
  expect(withTable(text, path, entry)).toBe(text)
})

test("taking it out leaves what was there before", () => {
  for (const before of ["# mine\nmodel = 'x' # best\n", "[a]\nb = 1\n", ""])
    expect(withoutTable(withTable(before, path, entry), path)).toBe(before)
})

test.each(["mcp_servers = { qm = { command = 'x' } }\n", "[mcp_servers]\nqm.command = 'x'\n", "a = \n"])(
  "what cannot be changed without touching other lines is refused: %j",
  (before) => expect(() => withTable(before, path, entry)).toThrow(),
)
