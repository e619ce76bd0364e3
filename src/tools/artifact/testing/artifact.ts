import { resultOrThrow } from "../../../core/errors.ts"
import type { Config } from "../../../config/schema.ts"
import { openTestApp } from "../../../testing/test-app.ts"

export const team: Config = {
  org: { roles: [{ name: "dev" }], agents: ["ann", "bob"].map((id) => ({ id, role: "dev" })) },
}

type System = Awaited<ReturnType<typeof openTestApp>>

export async function put(
  system: System,
  input: unknown,
  who: { agentId?: string; taskId?: string } = {},
): Promise<string> {
  const { artifactRef } = resultOrThrow(
    await system.call({
      agentId: "ann",
      ...who,
      tool: "put_artifact",
      input,
    }),
  ) as { artifactRef: string }
  return artifactRef
}

export async function get(
  system: System,
  ref: string,
  who: { agentId?: string; taskId?: string } = {},
  part: { offset?: number; limit?: number } = {},
): Promise<unknown> {
  const ended = await system.call({ agentId: "ann", ...who, tool: "get_artifact", input: { ref, ...part } })
  if (!ended.success) throw new Error(ended.error)
  return ended.result
}
