import { join } from "node:path"
import { mkdirSync } from "node:fs"
import { onTestFinished } from "vitest"
import { callbackAdapter } from "../../../approvals/ask/callback.ts"
import type { Config } from "../../../config/schema.ts"
import { openTestApp, temporaryFolder } from "../../../testing/test-app.ts"
import { openJavaScript } from "../../../platform/javascript/javascript.ts"
import { openProcesses } from "../../../platform/processes/processes.ts"
import { openFiles } from "../../../platform/files/files.ts"
import { commandTools } from "../index.ts"

export const org: Config["org"] = {
  roles: [
    { name: "developer", toolGroups: ["command", "artifact"] },
    { name: "tester", toolGroups: ["command"] },
  ],
  agents: [
    { id: "dev", role: "developer" },
    { id: "eve", role: "developer" },
    { id: "tim", role: "tester" },
  ],
}

/** An app with these tools and a workspace of its own, and a person who approves everything. */
export async function openCommandApp(options: { sandbox?: "off" | "auto"; timeoutMs?: number } = {}) {
  const workspace = temporaryFolder()
  const dataFolder = join(workspace, ".quartermaster")
  mkdirSync(dataFolder)
  let asked = 0
  const approvals = callbackAdapter({ onExecution: () => ++asked > 0 })
  const system = await openTestApp({ org }, { approvals })
  const files = openFiles({ workspace, dataFolder })
  const { sandbox = "off" } = options
  const processes = openProcesses({
    files,
    sandbox,
    environment: process.env,
    hidden: [dataFolder],
    graceMs: 200,
  })
  onTestFinished(() => processes.close())
  for (const tool of commandTools(processes, openJavaScript(), options))
    system.registry.register(tool, { replace: true })
  const call = (tool: string, input: unknown, who: object = {}) => system.call({ agentId: "dev", tool, input, ...who })
  return { system, workspace, processes, call, asked: () => asked }
}
