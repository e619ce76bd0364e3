import { Option } from "commander"
import type { CliCommand } from "../../common/cli-command.ts"
import { ConfigError } from "../../../../config/config-error.ts"
import { errorMessage } from "../../../../lib/error-message.ts"
import type { Person } from "../../../../core/organisation.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { requirePerson } from "../../common/known-names.ts"
import { createdFields, showFields, showList } from "../../common/listing.ts"
import { printResult } from "../../common/output.ts"
import { withApp, withPerson } from "../../common/open-app.ts"
import { formatTime, parseDuration } from "../../common/time-text.ts"
import { CannotDo, commaList, listCommand, newIdFrom, noSuch, UsageError } from "../../common/usage.ts"

interface PersonFlags {
  id?: string
  name?: string
  roles?: string
  expires?: string
}

interface MakeTokenFlags {
  expires?: string
  revoke?: boolean
}

export function addPeople(program: CliCommand, run: Run): void {
  const people = program
    .command("people")

    .description("list and manage the people who answer approvals")
  listCommand(people, "the people").example("qm people list").allowInTool().action(run(listPeople))
  people
    .command("show <id>")
    .example("qm people show ann")
    .allowInTool()
    .description("show one person")
    .action(run(showPerson))
  const create = people
    .command("create [id]")
    .example("qm people create ann --name Ann --roles lead")
    .description("add a person, named by --as <id>; prints their token once")
  expiring(described(create.addOption(new Option("--id <id>").hideHelp()))).action(run(createPerson))
  expiring(
    people
      .command("token <id>")
      .example("qm people token ann --expires 30d", "qm people token ann --revoke")
      .description("make another token for a person; the one before stops working"),
  )
    .option("--revoke", "make none: only end the one there is")
    .action(run(makeToken))
  described(
    people
      .command("update <id>")
      .example("qm people update ann --roles lead,security")
      .description("change only the given fields"),
  ).action(run(updatePerson))
  people
    .command("delete <id>")
    .example("qm people delete ann")
    .description("delete a person; their token stops working")
    .action(run(deletePerson))
}

function described(command: CliCommand): CliCommand {
  return command
    .option("--name <name>", "display name")
    .option("--roles <a,b>", 'roles; a rule can require approvers with a role; "" for none')
}

function expiring(command: CliCommand): CliCommand {
  return command.option("--expires <time>", "how long the token works, for example 12h or 90d, or never (default: 90d)")
}

function lifetimeOf(expires = "90d"): number | null {
  return expires === "never" ? null : parseDuration(expires, "--expires")
}

function listPeople(context: CliContext): Promise<number> {
  return withApp(context, { readOnly: true }, async ({ org }) => {
    await showList(
      context,
      org.listPeople().map(withoutToken),
      [
        { title: "ID", of: ({ id }) => id, paint: "bold" },
        { title: "NAME", of: ({ name }) => name },
        { title: "ROLES", of: ({ roles }) => roles.join(", ") },
        { title: "TOKEN", of: (person) => expiryText(person) },
        { title: "SOURCE", of: ({ source }) => source, paint: "dim" },
      ],
      "There is no person yet besides the user of this machine. 'qm people create' adds one.",
    )
    return 0
  })
}

function showPerson(context: CliContext, id: string): Promise<number> {
  return withApp(context, { readOnly: true }, async ({ org }) => {
    const found = org.findPerson(id)
    if (found === undefined)
      throw noSuch(
        "person",
        id,
        org.listPeople().map((each) => each.id),
      )
    const person = withoutToken(found)
    showFields(context, person, [
      ["id", person.id],
      ["name", person.name],
      ["roles", person.roles.join(", ")],
      ["token", tokenText(person)],
      ["source", person.source],
      ...createdFields(person),
    ])
    return 0
  })
}

function createPerson(context: CliContext, given: string | undefined, flags: PersonFlags): Promise<number> {
  const { name, roles, expires } = flags
  const id = newIdFrom(given, flags, "person")
  const lifetimeMs = lifetimeOf(expires)
  return withPerson(context, async ({ org }, by, { dataDir }) => {
    const { person, token } = await org.createPerson({ id, name, roles: commaList(roles), lifetimeMs }, by)
    return showToken(context, dataDir, `Created ${id}.`, person, token)
  })
}

/** Saves a token for --as and shows it. */
async function showToken(
  context: CliContext,
  dataDir: string,
  done: string,
  person: Person,
  token: string,
): Promise<number> {
  const { id } = person
  const saved = await saveToken(context, dataDir, id, token)
  const lines = [
    `${done} This token proves their identity ${expiryText(person)}, and is shown only now:`,
    `  ${token}`,
    saved.file === undefined
      ? `It could not be saved on this machine: ${saved.problem} Set QM_PERSON_TOKEN to use it with --as ${id}.`
      : `It is saved in ${saved.file}, so 'qm --as ${id}' works for this user. Elsewhere, set QM_PERSON_TOKEN.`,
  ]
  printResult(context, { person: withoutToken(person), token, file: saved.file ?? null }, lines.join("\n"))
  return 0
}

/** Saves the token for --as. A failure is returned, because the person exists and the token must still be shown. */
async function saveToken(
  { io: { home, env } }: CliContext,
  dataDir: string,
  id: string,
  token: string,
): Promise<{ file?: string; problem?: string }> {
  try {
    const { savePersonToken } = await import("../../../../config/identify-person.ts")
    return { file: savePersonToken(id, token, { home, env, dataDir }) }
  } catch (error) {
    return { problem: errorMessage(error) }
  }
}

async function makeToken(
  context: CliContext,
  id: string,
  { expires, revoke = false }: MakeTokenFlags,
): Promise<number> {
  const lifetimeMs = lifetimeOf(expires)
  const isStored = await withApp(context, { readOnly: true }, async ({ org }) => {
    const found = org.findPerson(id)
    return found !== undefined && found.madeBy !== "configuration"
  })
  if (!isStored) return tokenLines(context, id, lifetimeMs, revoke)
  return withPerson(context, async ({ org }, by, { dataDir }) => {
    if (revoke) {
      const person = withoutToken(await org.revokePersonToken(id, by))
      printResult(context, { person }, `The token of ${id} is revoked. 'qm people token ${id}' makes another one.`)
      return 0
    }
    const { person, token } = await org.renewPersonToken(id, { lifetimeMs }, by)
    return showToken(context, dataDir, `The token of ${id} that there was is revoked.`, person, token)
  })
}

/**
 * Makes a token for a person of the configuration, and the lines to write there. Also for a person of a file that is not
 * trusted yet: the hash counts only once it stands in a trusted one.
 */
function tokenLines(context: CliContext, id: string, lifetimeMs: number | null, revoke: boolean): Promise<number> {
  const { home, env } = context.io
  return withApp(context, { readOnly: true }, async ({ org }, { dataDir }) => {
    const known = [...org.listPeople(), ...(await writtenPeople(context))].map((person) => person.id)
    if (!known.includes(id)) throw noSuch("person", id, known)
    if (revoke)
      throw new CannotDo("person_configured", `Remove the tokenHash of '${id}' from org.people, then run 'qm trust'.`)
    const { tokenForConfiguration } = await import("../../../../config/identify-person.ts")
    const { file, token, tokenHash, isNew } = tokenForConfiguration(id, { home, env, dataDir }, org)
    const isKnown = org.personOfToken(token)?.id === id
    const day = lifetimeMs === null ? undefined : new Date(Date.now() + lifetimeMs).toISOString().slice(0, 10)
    const written = [`tokenHash: "${tokenHash}"`, ...(day === undefined ? [] : [`tokenExpiresAt: "${day}"`])]
    const lines = [
      isNew
        ? `This token proves that somebody is ${id}, and is shown only now:\n  ${token}\nIt is saved in ${file}. Elsewhere, set QM_PERSON_TOKEN.`
        : `The token of ${id} is in ${file}. To make another one, delete that file first.`,
      isKnown
        ? `The configuration has its tokenHash, so 'qm --as ${id}' works for this user.`
        : `Write these lines for '${id}' into org.people, then run 'qm trust'. From then on 'qm --as ${id}' works for this user:\n${written.map((line) => `  ${line}`).join("\n")}`,
    ]
    const expires = { tokenExpiresAt: day ?? null }
    printResult(context, { id, token: isNew ? token : null, tokenHash, ...expires, file }, lines.join("\n"))
    return 0
  })
}

/** The people of the project's file, trusted or not. */
async function writtenPeople({ io, flags }: CliContext): Promise<readonly { id: string }[]> {
  const { inspectConfig } = await import("../../../../config/inspect.ts")
  try {
    return inspectConfig(flags.config, io).harmless?.config.org?.people ?? []
  } catch (error) {
    if (error instanceof ConfigError) return []
    throw error
  }
}

function updatePerson(context: CliContext, id: string, { name, roles }: Omit<PersonFlags, "id">): Promise<number> {
  if (name === undefined && roles === undefined)
    throw new UsageError("Nothing to change. Give --name, --roles or both.")
  const change = {
    ...(name === undefined ? {} : { name }),
    ...(roles === undefined ? {} : { roles: commaList(roles) }),
  }
  return withPerson(context, async (app, by) => {
    requirePerson(app, id)
    const person = withoutToken(await app.org.updatePerson(id, change, by))
    printResult(context, person, `Changed ${person.id}.`)
    return 0
  })
}

function deletePerson(context: CliContext, id: string): Promise<number> {
  return withPerson(context, async (app, by) => {
    requirePerson(app, id)
    const person = withoutToken(await app.org.deletePerson(id, by))
    printResult(context, person, `Deleted ${person.id}.`)
    return 0
  })
}

/** Describes the person's proof of identity. */
function tokenText(person: Person): string {
  const { id, hasToken, madeBy } = person
  if (hasToken === true) return `works ${expiryText(person)} (only its hash is stored)`
  return madeBy === "configuration"
    ? `none; the login '${id}' on this machine acts as this person`
    : "none, so nobody can act as this person"
}

function expiryText({ hasToken, tokenExpiresAt }: Person): string {
  if (hasToken !== true) return "none"
  return tokenExpiresAt === undefined ? "until it is revoked" : `until ${formatTime(tokenExpiresAt)}`
}

function withoutToken<Known extends Person>(person: Known): Omit<Known, "tokenHash"> {
  const { tokenHash: _hash, ...rest } = person
  return rest
}
