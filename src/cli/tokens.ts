import type { Command } from "commander"
import type { AgentToken } from "../model/token-book.ts"
import type { Run, Session } from "./house.ts"
import { showList } from "./listing.ts"
import { answer } from "./output.ts"
import { withApp, withPerson } from "./session.ts"
import { clock, readSpan } from "./since.ts"
import { CannotDo, idOf, listCommand, NotAllowed, UsageError } from "./usage.ts"

interface TokenFlags {
  name?: string
  person?: string
  expires?: string
}

export function addTokens(program: Command, run: Run): void {
  const tokens = program.command("tokens").description("the tokens by which programs speak for agents over HTTP")
  listCommand(tokens).action(run(listTokens))
  tokens
    .command("create")
    .description("make one for the agent of --agent; it is shown once")
    .option("--name <name>", "what people call it, for example where it is used")
    .option("--person <me>", "'me' or your own id: answers given in that program then count as yours")
    .option("--expires <time>", "how long it is good for, such as 12h or 90d, or never; 90d when left out")
    .action(run(createToken))
  tokens
    .command("revoke <id>")
    .description("end one, and what waits by it; a unique beginning of its id is enough")
    .action(run(revokeToken))
}

function listTokens(session: Session): Promise<number> {
  const { agent } = session.flags
  return withApp(session, {}, async ({ tokens }) => {
    await showList<AgentToken>(
      session,
      tokens.list({ agentId: agent }),
      [
        { title: "ID", of: ({ id }) => id, paint: "bold" },
        { title: "AGENT", of: ({ agentId }) => agentId },
        { title: "NAME", of: ({ name }) => name },
        { title: "PERSON", of: ({ person }) => person },
        { title: "EXPIRES", of: ({ expiresAt }) => (expiresAt === null ? "never" : clock(expiresAt)) },
        { title: "MADE BY", of: ({ createdBy }) => createdBy, paint: "dim" },
      ],
      "There is no token yet. 'qm tokens create --agent <id>' makes one.",
    )
    return 0
  })
}

function createToken(session: Session, { name, person, expires = "90d" }: TokenFlags): Promise<number> {
  const { agent } = session.flags
  if (agent === undefined) throw new UsageError("Say for which agent the token speaks: --agent <id>.")
  const lifetimeMs = expires === "never" ? null : readSpan(expires, "--expires")
  return withPerson(session, async ({ tokens }, by) => {
    const given = { agentId: agent, name, lifetimeMs, person: ownId(person, by.id) }
    const { token, entry } = await tokens.create(given, by.id)
    const until = entry.expiresAt === null ? "until it is revoked" : `until ${clock(entry.expiresAt)}`
    const whose = entry.person === undefined ? "" : `, and answers given there count as ${entry.person}'s`
    const lines = [
      `This token is shown only now. Whoever has it speaks for ${agent}${whose}, ${until}:`,
      `  ${token}`,
      "Send it as 'Authorization: Bearer <token>' to the /mcp that 'qm serve' prints.",
      `'qm tokens revoke ${entry.id}' ends it.`,
    ]
    answer(session, { token, ...entry }, lines.join("\n"))
    return 0
  })
}

/** A token can make its holder's answers count as somebody's, so nobody gives that away for another. */
function ownId(person: string | undefined, speaker: string): string | undefined {
  if (person === undefined) return undefined
  if (person === "me" || person === speaker) return speaker
  throw new NotAllowed(
    `You speak as ${speaker}, so a token's answers cannot count as those of '${person}'. Say --person me, or let them make it with --as.`,
  )
}

function revokeToken(session: Session, given: string): Promise<number> {
  const id = idOf(given)
  return withPerson(session, async ({ tokens }, by) => {
    const entry = await tokens.revoke(id, by.id)
    if (entry === undefined) {
      throw new CannotDo("token_not_found", `No token has the id '${id}'. 'qm tokens list' shows those that count.`)
    }
    answer(session, entry, `Revoked ${entry.id} of agent ${entry.agentId}. Nobody speaks by it any more.`)
    return 0
  })
}
