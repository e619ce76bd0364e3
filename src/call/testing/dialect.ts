import { z } from "zod"
import type { AliasSpec } from "../../registry/dialects/dialect.ts"
import { failure } from "../../core/ending.ts"
import { openTestApp, tool } from "../../testing/test-app.ts"

const greet = () =>
  tool({
    name: "greet",
    input: z.object({ name: z.string(), times: z.number().default(1) }) as never,
    output: z.object({ text: z.string(), count: z.number() }) as never,
    execute({ name, times }: { name: string; times: number }) {
      if (name === "nobody") throw failure("There is nobody to greet.", { toolCode: "nobody" })
      return { text: `Hello ${name}`.repeat(times), count: times }
    },
  })

const aliases: AliasSpec[] = [
  {
    name: "Greet",
    dialect: "claude",
    tool: "greet",
    description: "Greets.",
    input: () => z.object({ who: z.string() }) as never,
    output: () => z.object({ greeting: z.string() }),
    toInput: ({ who }: { who: string }) => ({ name: who }),
    toResult: (result: unknown) => ({ greeting: (result as { text: string }).text }),
    toError: (sentence: string) => `Failed to greet: ${sentence}`,
  } as unknown as AliasSpec,
  {
    name: "greet",
    dialect: "classic",
    tool: "greet",
    description: "Greets.",
    input: () => z.object({ person: z.string() }) as never,
    toInput: ({ person }: { person: string }) => ({ name: person }),
    toResult: (result: unknown) => [(result as { text: string }).text],
  } as unknown as AliasSpec,
]

export async function openWithDialects(config: Parameters<typeof openTestApp>[0] = {}) {
  const roles = ["native", "claude", "classic"].map((dialect) => ({ name: dialect, dialect: dialect as "native" }))
  const agents = roles.map(({ name }) => ({ id: name, role: name }))
  const system = await openTestApp({ ...config, org: { roles, agents } })
  system.registry.register(greet())
  system.registry.registerAliases(aliases)
  return system
}
