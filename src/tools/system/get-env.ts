import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { SessionEnvironment } from "../../store/port.ts"
import { isSecretVariable } from "../../lib/secret-names.ts"

/** The variables of the process as they are now, without those that hold secrets of the configuration. */
export type CurrentEnvironment = () => Readonly<Record<string, string | undefined>>

/** Reads a variable: the session's value, else the process's own. Variables with secret-looking names are hidden. */
export const getEnv = (session: SessionEnvironment, currentEnvironment: CurrentEnvironment) =>
  defineTool({
    name: "get_env",
    group: "system",
    category: "system",
    description: "Read an environment variable. Variables that look like secrets are hidden.",
    effect: "read",
    input: () => z.object({ key: z.string().min(1).describe("The variable's name, for example LANG") }),
    output: () => z.object({ value: z.string().nullable(), hidden: z.boolean().optional() }),

    async execute({ key }, { agent, sessionId }) {
      if (isSecretVariable(key)) return { value: null, hidden: true }
      const environment = currentEnvironment()
      const own = Object.hasOwn(environment, key) ? environment[key] : undefined
      return { value: (await session.get({ agentId: agent.id, sessionId }, key)) ?? own ?? null }
    },
  })
