import type { Command } from "commander"
import { messageOf } from "../model/message.ts"
import type { Person } from "../model/organisation.ts"
import type { Run, Session } from "./house.ts"
import { showFields, showList } from "./listing.ts"
import { answer } from "./output.ts"
import { withApp, withPerson } from "./session.ts"
import { commaList, listCommand, noSuch, UsageError } from "./usage.ts"

interface PersonFlags {
  id: string
  name?: string
  roles?: string
}

export function addPeople(program: Command, run: Run): void {
  const people = program.command("people").description("the people who answer approvals")
  listCommand(people).action(run(listPeople))
  people.command("show <id>").description("one person").action(run(showPerson))
  const create = people.command("create").description("add a person; the token that proves who speaks is shown once")
  described(create.requiredOption("--id <id>", "the person's id, for --as")).action(run(createPerson))
  described(people.command("update <id>").description("change what is named, and nothing else")).action(
    run(updatePerson),
  )
  people
    .command("delete <id>")
    .description("delete a person; the token proves nothing from then on")
    .action(run(deletePerson))
}

function described(command: Command): Command {
  return command
    .option("--name <name>", "what people call them")
    .option("--roles <a,b>", 'roles that rules ask for as approvers; "" for none')
}

function listPeople(session: Session): Promise<number> {
  return withApp(session, {}, async ({ org }) => {
    await showList(
      session,
      org.listPeople().map(withoutToken),
      [
        { title: "ID", of: ({ id }) => id, paint: "bold" },
        { title: "NAME", of: ({ name }) => name },
        { title: "ROLES", of: ({ roles }) => roles.join(", ") },
        { title: "SOURCE", of: ({ source }) => source, paint: "dim" },
      ],
      "There is nobody yet besides the user of this machine. 'qm people create' adds a person.",
    )
    return 0
  })
}

function showPerson(session: Session, id: string): Promise<number> {
  return withApp(session, {}, async ({ org }) => {
    const found = org.findPerson(id)
    if (found === undefined)
      throw noSuch(
        "person",
        id,
        org.listPeople().map((each) => each.id),
      )
    const person = withoutToken(found)
    showFields(session, person, [
      ["id", person.id],
      ["name", person.name],
      ["roles", person.roles.join(", ")],
      ["token", tokenText(person)],
      ["source", person.source],
      ["made by", `${person.createdBy} (${person.madeBy})`],
      ["made at", person.createdAt],
    ])
    return 0
  })
}

function createPerson(session: Session, { id, name, roles }: PersonFlags): Promise<number> {
  return withPerson(session, async ({ org }, by) => {
    const { person, token } = await org.createPerson({ id, name, roles: commaList(roles) }, by)
    const kept = await keep(session, id, token)
    const lines = [
      `Created ${person.id}. This token proves who speaks, and is shown only now:`,
      `  ${token}`,
      kept.file === undefined
        ? `It could not be kept on this machine: ${kept.problem} Set QM_PERSON_TOKEN to use it with --as ${id}.`
        : `It is kept in ${kept.file}, so 'qm --as ${id}' works for this user. Elsewhere, set QM_PERSON_TOKEN.`,
    ]
    answer(session, { person: withoutToken(person), token, file: kept.file ?? null }, lines.join("\n"))
    return 0
  })
}

/** The person exists by now, so the token is shown even if no file takes it. */
async function keep({ house }: Session, id: string, token: string): Promise<{ file?: string; problem?: string }> {
  try {
    return { file: await house.keepPersonToken(id, token) }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}

function updatePerson(session: Session, id: string, { name, roles }: Omit<PersonFlags, "id">): Promise<number> {
  if (name === undefined && roles === undefined) throw new UsageError("Say what changes: --name, --roles or both.")
  const change = {
    ...(name === undefined ? {} : { name }),
    ...(roles === undefined ? {} : { roles: commaList(roles) }),
  }
  return withPerson(session, async ({ org }, by) => {
    const person = withoutToken(await org.updatePerson(id, change, by))
    answer(session, person, `Changed ${person.id}.`)
    return 0
  })
}

function deletePerson(session: Session, id: string): Promise<number> {
  return withPerson(session, async ({ org }, by) => {
    const person = withoutToken(await org.deletePerson(id, by))
    answer(session, person, `Deleted ${person.id}.`)
    return 0
  })
}

/** By what they prove who they are. */
function tokenText({ id, hasToken, madeBy }: Person): string {
  if (hasToken === true) return "only its hash is kept"
  return madeBy === "configuration"
    ? `none; the login '${id}' of this machine speaks as them`
    : "none, so nobody can speak as them"
}

function withoutToken<Known extends Person>(person: Known): Omit<Known, "tokenHash"> {
  const { tokenHash: _hash, ...rest } = person
  return rest
}
