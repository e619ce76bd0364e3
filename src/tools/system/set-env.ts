import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { SessionEnvironment } from "../../store/port.ts"
import type { CurrentEnvironment } from "./get-env.ts"
import { isSecretVariable } from "../../lib/secret-names.ts"

/** Sets a variable for this agent's session and its commands. The process's own environment does not change. */
export const setEnv = (session: SessionEnvironment, currentEnvironment: CurrentEnvironment) =>
  defineTool({
    name: "set_env",
    group: "system",
    category: "system",
    description: "Set an environment variable for this session only. Commands of the session get it too.",
    effect: "write",
    input: () =>
      z.object({
        key: z
          .string()
          .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "must be a variable name: letters, digits and _")
          .describe("The variable's name, for example LANG"),
        value: z
          .string()
          .max(32_768)
          .refine(
            (text) => !text.includes("\0") && !/\p{Surrogate}/u.test(text),
            "cannot contain NUL or half of a character",
          )
          .describe("Its new value"),
      }),
    output: () => z.object({ previous: z.string().nullable() }),
    preview: ({ key, value }) => `${key}=${value}`,

    async execute({ key, value }, { agent, sessionId }) {
      const previous = await session.set({ agentId: agent.id, sessionId }, key, value)
      const environment = currentEnvironment()
      const own = Object.hasOwn(environment, key) ? environment[key] : undefined
      return { previous: isSecretVariable(key) ? null : (previous ?? own ?? null) }
    },
  })
