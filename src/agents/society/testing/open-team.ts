import type { Config } from "../../../config/schema.ts"
import type { AppOptions } from "../../../app/app-options.ts"
import { openTestApp } from "../../../testing/test-app.ts"
import type { ModelMessage, ModelRequest } from "../../models/port.ts"
import { playedModel, type PlayedTurn } from "../../testing/played-model.ts"

/** A request to an agent's model, as tests look at it. */
export interface Asked extends ModelRequest {
  agentId: string
  role: string
  /** The last words: of the user, or as a result. */
  last: string
  /** The number of answers the agent has given in this conversation. */
  round: number
}

export type Answer = (asked: Asked) => PlayedTurn | Promise<PlayedTurn>

const team: Config["org"] = {
  roles: [
    { name: "dev", rolePrompt: "You write code.", toolGroups: ["org_management", "test"] },
    { name: "tester", rolePrompt: "You test.", toolGroups: ["org_management", "test"] },
  ],
  agents: [
    { id: "dev", role: "dev" },
    { id: "tess", role: "tester" },
  ],
}

const rules = ["send_message", "spawn_agent", "spawn_agent_with_task", "create_role", "terminate_agent"].map(
  (allow) => ({
    allow,
    because: "the test",
  }),
)

/** An app with a few agents. All of them are played by one function, which sees who is asked. */
export async function openTeam(answer: Answer, config: Config = {}, options: AppOptions = {}) {
  const model = playedModel((request) => answer(askedOf(request)))
  const app = await openTestApp({ org: team, rules, ...config }, { models: { played: model }, ...options })
  return Object.assign(app, { model })
}

function askedOf(request: ModelRequest): Asked {
  const { messages } = request
  const [, agentId = "", role = ""] = /You are agent (\S+) with the role (.+?)\./.exec(textOf(messages[0]!)) ?? []
  const round = messages.filter(({ role: who }) => who === "assistant").length
  return { ...request, agentId, role, round, last: textOf(messages.at(-1)!) }
}

export function textOf({ content }: ModelMessage): string {
  if (typeof content === "string") return content
  return content.map((part) => ("text" in part ? part.text : "output" in part ? part.output : "")).join("\n")
}
