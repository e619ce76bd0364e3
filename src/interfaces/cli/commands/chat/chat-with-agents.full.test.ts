import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { makeCli } from "../../testing.ts"

const controlD = "\u0004"
// The menu may break before its last word.
const menu = "later\r\n> "

const boss = `
- call: { find_role_by_name: { name: tester } }
- call:
    spawn_agent_with_task:
      roleId: tester
      taskBrief: { objective: Test., constraints: [], inputs: none, outputs: a report, completion_criteria: a report }
      initialMessage: Please test.
- branch:
    - when: { user: The answer of }
      steps: [{ say: The tester says that all is well. }]
    - steps:
        - say: The tester works on it.
        - say: The tester says that all is well.
`

const worker = `
- call: { write_file: { path: report.md, content: All is well. } }
- say: All is well.
`

test("the cards of agents that a chat asked are shown in it, and their answers begin a turn", async () => {
  const cli = makeCli({ NO_COLOR: "1" })
  cli.write("boss.yml", boss)
  cli.write("worker.yml", worker)
  cli.write(
    "quartermaster.yml",
    `models:
  default: boss
  boss: { provider: scripted, script: boss.yml }
  worker: { provider: scripted, script: worker.yml }
org:
  roles: [{ name: tester, llmServiceId: worker, toolGroups: [workspace] }]
`,
  )
  await cli.run("trust", "--yes")
  const { code, stdout } = await cli.inTerminal(
    ["chat", "--agent", "root"],
    [
      ["/help", "Test it.\r"],
      [menu, "a\r"],
      ["The tester says that all is well.", controlD],
    ],
  )
  expect(code).toBe(0)
  expect(stdout).toContain("wants to call write_file")
  expect(readFileSync(join(cli.cwd, "report.md"), "utf8")).toBe("All is well.")
})
