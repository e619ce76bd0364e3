import type { CliCommand } from "../../common/cli-command.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { AgentToken } from "../../../../org/token-admin.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { agentOfEntries, activeAgentId } from "../../common/known-names.ts"
import { showList } from "../../common/listing.ts"
import { printResult } from "../../common/output.ts"
import { withApp, withPerson } from "../../common/open-app.ts"
import { formatTime, parseDuration } from "../../common/time-text.ts"
import { CannotDo, requireId, listCommand, NotAllowed, UsageError } from "../../common/usage.ts"

interface TokenFlags {
  name?: string
  person?: string
  expires?: string
}

export function addTokens(program: CliCommand, run: Run): void {
  const tokens = program
    .command("tokens")

    .description("list and manage the tokens of programs that call tools over HTTP")
  listCommand(tokens, "the tokens, without their secrets").example("qm tokens list --agent dev").action(run(listTokens))
  tokens
    .command("create")
    .example("qm tokens create --agent dev --person me")
    .description("create a token for an agent (--agent); it is shown once")
    .option("--name <name>", "name, for example where the token is used")
    .option("--person <me>", "'me' or your id: approvals answered in that program count as yours")
    .option("--expires <time>", "how long it is valid, for example 12h or 90d, or never (default: 90d)")
    .action(run(createToken))
  tokens
    .command("revoke <id>")
    .example("qm tokens revoke 01a1e1a9")
    .description("revoke a token and end its waiting calls; the first characters of its id are enough")
    .action(run(revokeToken))
}

function listTokens(context: CliContext): Promise<number> {
  return withApp(context, { readOnly: true }, async (app) => {
    await showList<AgentToken>(
      context,
      app.tokens.list({ agentId: agentOfEntries(context, app) }),
      [
        { title: "ID", of: ({ id }) => id, paint: "bold" },
        { title: "AGENT", of: ({ agentId }) => agentId },
        { title: "NAME", of: ({ name }) => name },
        { title: "PERSON", of: ({ person }) => person },
        { title: "EXPIRES", of: ({ expiresAt }) => (expiresAt === null ? "never" : formatTime(expiresAt)) },
        { title: "CREATED BY", of: ({ createdBy }) => createdBy, paint: "dim" },
      ],
      "There is no token yet. 'qm tokens create --agent <id>' creates one.",
    )
    return 0
  })
}

function createToken(context: CliContext, { name, person, expires = "90d" }: TokenFlags): Promise<number> {
  const { agent } = context.flags
  if (agent === undefined) throw new UsageError("Name the agent the token is for: --agent <id>.")
  const lifetimeMs = expires === "never" ? null : parseDuration(expires, "--expires")
  return withPerson(context, async (app, by) => {
    const { tokens } = app
    const id = agentOfToken(app, agent)
    const given = { agentId: id, name, lifetimeMs, person: ownId(person, by.id) }
    const { token, entry } = await tokens.create(given, by.id)
    const until = entry.expiresAt === null ? "until it is revoked" : `until ${formatTime(entry.expiresAt)}`
    const whose = entry.person === undefined ? "" : `, and answers given with it count as ${entry.person}'s`
    const lines = [
      `This token is shown only now. It lets a program call tools as ${id}${whose}, ${until}:`,
      `  ${token}`,
      "Send it as 'Authorization: Bearer <token>' to the /mcp URL that 'qm serve' prints.",
      `'qm tokens revoke ${entry.id}' revokes it.`,
    ]
    printResult(context, { token, ...entry }, lines.join("\n"))
    return 0
  })
}

/** The agent is an option here, so a wrong one is a wrong use of the command. */
function agentOfToken(app: Pick<Quartermaster, "org">, given: string): string {
  try {
    return activeAgentId(app, given)
  } catch (error) {
    throw error instanceof CannotDo ? new UsageError(error.message) : error
  }
}

/** A token can carry only the person who creates it, because answers given with it count as theirs. */
function ownId(person: string | undefined, by: string): string | undefined {
  if (person === undefined) return undefined
  if (person === "me" || person === by) return by
  throw new NotAllowed(
    `You are ${by}, so you cannot create a token whose answers count as those of '${person}'. Use --person me, or let them create it with --as.`,
  )
}

function revokeToken(context: CliContext, given: string): Promise<number> {
  const id = requireId(given)
  return withPerson(context, async ({ tokens }, by) => {
    const entry = await tokens.revoke(id, by.id)
    if (entry === undefined) {
      throw new CannotDo("token_not_found", `No token has the id '${id}'. 'qm tokens list' shows all valid tokens.`)
    }
    printResult(context, entry, `Revoked ${entry.id} of agent ${entry.agentId}. It no longer works.`)
    return 0
  })
}
