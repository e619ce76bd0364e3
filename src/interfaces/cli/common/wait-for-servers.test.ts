import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import type { Quartermaster } from "../../../app/quartermaster.ts"
import type { Explanation } from "../../../policy/explanation.ts"
import { runWithApp } from "../testing.ts"

const explanation = { agentId: "operator", reasons: [], checks: [], approvers: [], change: [], release: "never" }

/** `qm why` for a tool while the MCP server `slow` takes that long to start. */
function why(tool: string, milliseconds: number) {
  const app = {
    findTool: (name: string) => (name === "run_command" || name === "Bash" ? ({ name } as never) : undefined),
    visibleTools: () => [],
    mcp: {
      list: () => [{ name: "slow", state: "connecting" } as never],
      ready: () => sleep(milliseconds, undefined, { ref: false }),
      pins: () => [],
    },
    why: (({ tool: asked }) =>
      Promise.resolve({
        ...explanation,
        tool: asked,
        verdict: "deny",
        touches: { list: [], proved: true },
      } as never as Explanation)) as Quartermaster["why"],
  }
  return runWithApp(app, ["why", tool])
}

test.each(["run_command", "Bash", "run_command@1.0.0"])(
  "'qm why %s' does not wait for MCP servers, whether the agent may see the tool or not",
  async (tool) => {
    expect(await why(tool, 600_000)).toMatchObject({ code: 0, stderr: "" })
  },
)

test("a command that waits for a server says for which one", async () => {
  const { code, stderr } = await why("slow__search", 1200)
  expect([code, stderr]).toEqual([0, "Waiting up to 20 seconds for MCP servers to list their tools: slow.\n"])
})
