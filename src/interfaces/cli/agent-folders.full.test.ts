import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { makeCli, outputOf, waitForOutput } from "./testing.ts"

/** Calls that an agent tries whose folder is `docs`: two that are right, and four that reach outside. */
const tries = (name: string) => `
      - say: I try everything.
        call:
          - write_file: { path: docs/${name}.md, content: inside }
          - run_command: { command: "echo inside > ${name}.txt", cwd: docs }
          - write_file: { path: src/${name}.md, content: outside }
          - read_file: { path: src/secret.md }
          - run_command: { command: "echo outside > ${name}.txt", cwd: src }
          - run_command: { command: "echo outside > ../src/${name}.txt", cwd: docs }
          - run_command: { command: "ls" }`

/** The lead works itself and spawns an agent that has no folder of its own, and one whose folder is deeper. */
const script = `
- branch:
    - when: { user: "Child, work." }
      steps:${tries("child").replaceAll("\n", "\n    ")}
          - say: The child is done.
    - when: { user: "Guide, work." }
      steps:
          - say: I stay deeper.
            call:
              - write_file: { path: docs/guide/a.md, content: inside }
              - write_file: { path: docs/guide.md, content: outside }
          - say: The guide is done.
    - steps:${tries("lead").replaceAll("\n", "\n    ")}
          - say: I hire.
            call: { create_role: { name: writer, rolePrompt: You write., toolGroups: [workspace, command] } }
          - say: They begin.
            call:
              - spawn_agent_with_task: { roleId: writer, taskBrief: &brief { objective: Write, constraints: [], inputs: none, outputs: files, completion_criteria: written }, initialMessage: "Child, work." }
              - spawn_agent_with_task: { roleId: writer, folder: docs/guide, taskBrief: *brief, initialMessage: "Guide, work." }
              - spawn_agent_with_task: { roleId: writer, folder: src, taskBrief: *brief, initialMessage: "Child, work." }
          - say: They work.
          - say: All have answered.
          - say: All have answered.
`

const config = `models: { main: { provider: scripted, script: script.yml } }
org:
  roles: [{ name: lead, toolGroups: [org_management, workspace, command] }]
  agents: [{ id: lead, role: lead, folder: docs }]
rules: [{ allow: "*", because: the test }]
`

interface Ended {
  agentId: string
  tool: string
  status: string
  code?: string
}
interface Listed {
  id: string
  role: string
  parentId?: string
  folder?: string
}

test.each(["qm run", "qm serve"])(
  "an agent with a folder, and those it spawns, write inside it and nowhere else: %s",
  async (how) => {
    const cli = makeCli()
    cli.write("quartermaster.yml", config)
    cli.write("script.yml", script)
    for (const folder of ["docs/guide", "src"]) mkdirSync(join(cli.cwd, folder), { recursive: true })
    cli.write("src/secret.md", "secret")
    await cli.run("trust", "--yes")
    if (how === "qm run") expect(await cli.run("run", "Work.", "--agent", "lead")).toMatchObject({ code: 0 })
    else {
      const server = cli.start("serve", "--port", "0")
      const ended = outputOf(server, "")
      await waitForOutput(server, "Press Ctrl-C to stop.")
      const answer = await cli.run("agents", "message", "lead", "Work.", "--wait")
      expect(answer).toMatchObject({ code: 0 })
      server.kill("SIGTERM")
      await ended
    }
    const inside = ["lead.md", "lead.txt", "child.md", "child.txt", "guide/a.md"]
    for (const name of inside) expect(readFileSync(join(cli.cwd, "docs", name), "utf8").trim()).toBe("inside")
    const outside = ["src/lead.md", "src/lead.txt", "src/child.md", "src/child.txt", "docs/guide.md"]
    for (const name of outside) expect(existsSync(join(cli.cwd, name)), name).toBe(false)

    const agents = JSON.parse((await cli.run("agents", "list", "--json")).stdout) as Listed[]
    const below = agents.filter(({ parentId }) => parentId === "lead")
    expect(below.map(({ folder }) => folder).toSorted()).toEqual(["docs", "docs/guide"])
    const child = below.find(({ folder }) => folder === "docs")!
    expect((await cli.run("agents", "show", child.id)).stdout).toMatch(/^folder: +docs$/m)
    expect((await cli.run("agents", "list")).stdout).toMatch(/^lead .+ docs +active/m)

    const calls = JSON.parse((await cli.run("audit", "list", "--limit", "100", "--json")).stdout) as Ended[]
    for (const agent of ["lead", child.id]) {
      const refused = calls.filter(({ agentId, code }) => agentId === agent && code === "path_outside_workspace")
      expect(refused.map(({ tool }) => tool).toSorted()).toEqual([
        "read_file",
        "run_command",
        "run_command",
        "run_command",
        "write_file",
      ])
    }
  },
)

test("qm agents create gives a folder, which must lie inside that of the parent", async () => {
  const cli = makeCli()
  cli.write("quartermaster.yml", config)
  cli.write("script.yml", script)
  await cli.run("trust", "--yes")
  const create = (id: string, ...folder: string[]) =>
    cli.run("agents", "create", "--id", id, "--role", "lead", "--parent", "lead", ...folder)
  expect((await create("deep", "--folder", "docs/deep/")).code).toBe(0)
  expect((await create("plain")).code).toBe(0)
  expect((await create("out", "--folder", "src")).stderr).toContain(
    `The folder "src" is not inside "docs", the folder of agent 'lead'.`,
  )
  const agents = JSON.parse((await cli.run("agents", "list", "--json")).stdout) as Listed[]
  const folders = agents.filter(({ parentId }) => parentId === "lead").map(({ id, folder }) => [id, folder])
  expect(folders.toSorted()).toEqual([
    ["deep", "docs/deep"],
    ["plain", "docs"],
  ])
})
