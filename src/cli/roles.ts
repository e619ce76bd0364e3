import type { Command } from "commander"
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import type { App } from "../model/app.ts"
import type { Role } from "../model/organisation.ts"
import type { NewRole, Sourced } from "../model/organisation-book.ts"
import type { Run, Session } from "./house.ts"
import { showFields, showList } from "./listing.ts"
import { answer, say } from "./output.ts"
import { withApp, withPerson } from "./session.ts"
import { commaList, listCommand, noSuch, number, repeated, UsageError } from "./usage.ts"

interface RoleFlags {
  name?: string
  groups?: string
  department?: string
  level?: string
  dialect?: string
  prompt?: string
  pin?: string[]
  model?: string
}

export function addRoles(program: Command, run: Run): void {
  const roles = program.command("roles").description("the roles, and the groups of tools they are given")
  listCommand(roles).option("--all", "also those that were deleted").action(run(listRoles))
  roles.command("show <role>").description("one role, by its name or id").action(run(showRole))
  const create = roles.command("create").description("make a role; the one of that name is left as it is")
  described(create.requiredOption("--name <name>", "what it is called")).action(run(createRole))
  const update = roles.command("update <role>").description("change what is named, and nothing else")
  described(update.option("--name <name>", "what it is called from now on")).action(run(updateRole))
  roles
    .command("delete <role>")
    .description("delete a role; its agents have nothing from then on")
    .action(run(deleteRole))
}

function described(command: Command): Command {
  return command
    .option("--groups <a,b>", 'the groups of tools it is given; "" for all')
    .option("--department <id>", 'the department of its agents; "" for none')
    .option("--level <number>", "the level of its agents")
    .option("--dialect <name>", "the names its model is used to: native, claude or classic")
    .option("--prompt <text>", "what the model is told about its role; @file reads it from a file")
    .option("--pin <tool=version>", "hold it to a version of a tool; can be repeated", repeated)
    .option("--model <id>", "the model service it uses")
}

function listRoles(session: Session, { all }: { all?: boolean }): Promise<number> {
  return withApp(session, {}, async ({ org }) => {
    const roles = org.listRoles().filter(({ status }) => all === true || status === "active")
    await showList(
      session,
      roles,
      [
        {
          title: "NAME",
          of: (role) => (role.status === "active" ? role.name : `${role.name} (deleted)`),
          paint: "bold",
        },
        { title: "GROUPS", of: groupsText },
        { title: "DEPARTMENT", of: ({ department }) => department },
        { title: "LEVEL", of: ({ level }) => level },
        { title: "SOURCE", of: ({ source }) => source, paint: "dim" },
      ],
      "There is no role.",
    )
    return 0
  })
}

function showRole(session: Session, name: string): Promise<number> {
  return withApp(session, {}, async ({ org }) => {
    const role = org.findRole(name)
    if (role === undefined) {
      throw noSuch(
        "role",
        name,
        org.listRoles().map((each) => each.name),
      )
    }
    const pins = Object.entries(role.pins ?? {}).map(([tool, version]) => `${tool}=${version}`)
    showFields(session, role, [
      ["name", role.name],
      ["id", role.id],
      ["groups", groupsText(role)],
      ["department", role.department],
      ["level", role.level],
      ["dialect", role.dialect],
      ["pins", pins.join(", ")],
      ["model", role.llmServiceId ?? undefined],
      ["status", role.status],
      ["source", role.source],
      ["made by", `${role.createdBy} (${role.madeBy})`],
      ["made at", role.createdAt],
      ["prompt", role.rolePrompt],
    ])
    return 0
  })
}

async function createRole(session: Session, flags: RoleFlags): Promise<number> {
  const given = { ...(await fieldsOf(session, flags)), name: flags.name ?? "" }
  return withPerson(session, async ({ org }, by) => {
    const { role, created, hint } = await org.createRole(given, by)
    if (hint !== undefined) say(session, hint)
    const sentence = created
      ? `Created role ${role.name} with ${groupsText(role)} groups.`
      : `There is a role ${role.name} already; it was left as it is. 'qm roles update' changes it.`
    answer(session, { role, created, hint }, sentence)
    return 0
  })
}

async function updateRole(session: Session, name: string, flags: RoleFlags): Promise<number> {
  const change = await fieldsOf(session, flags)
  if (Object.keys(change).length === 0) {
    throw new UsageError("Nothing was said to change. 'qm roles update --help' shows what can be.")
  }
  return withPerson(session, async ({ org }, by) => {
    const { role, hint } = await org.updateRole(name, change, by)
    if (hint !== undefined) say(session, hint)
    answer(session, { role, hint }, `Changed role ${role.name}.`)
    return 0
  })
}

function deleteRole(session: Session, name: string): Promise<number> {
  return withPerson(session, async ({ org }, by) => {
    const role = await org.deleteRole(name, by)
    const left = holdersOf(org, role).map(({ id }) => id)
    if (left.length > 0) say(session, `These agents have nothing now, because it was their role: ${left.join(", ")}.`)
    answer(session, role, `Deleted role ${role.name}.`)
    return 0
  })
}

/** Only what was said, so that an update leaves the rest alone. */
async function fieldsOf({ io }: Session, flags: RoleFlags): Promise<Partial<NewRole>> {
  const { name, groups, department, level, dialect, prompt, pin, model } = flags
  return {
    ...(name === undefined ? {} : { name }),
    ...(groups === undefined ? {} : { toolGroups: commaList(groups) }),
    ...(department === undefined ? {} : { department }),
    ...(level === undefined ? {} : { level: number("--level", level) }),
    ...(dialect === undefined ? {} : { dialect }),
    ...(prompt === undefined ? {} : { rolePrompt: await textOrFile(prompt, io.cwd) }),
    ...(pin === undefined ? {} : { pins: readPins(pin) }),
    ...(model === undefined ? {} : { llmServiceId: model === "" ? null : model }),
  }
}

/** A text as it is, or the file behind an `@`. */
async function textOrFile(text: string, cwd: string): Promise<string> {
  if (!text.startsWith("@")) return text
  try {
    return await readFile(resolve(cwd, text.slice(1)), "utf8")
  } catch (error) {
    throw new UsageError(`--prompt names a file that cannot be read: ${(error as Error).message}.`)
  }
}

function readPins(given: readonly string[]): Record<string, string> {
  const pairs = given.map((text): [string, string] => {
    const at = text.indexOf("=")
    if (at < 1 || at === text.length - 1)
      throw new UsageError(`--pin takes tool=version, for example --pin sleep=1.0.0, and '${text}' is not that.`)
    return [text.slice(0, at), text.slice(at + 1)]
  })
  return Object.fromEntries(pairs)
}

function groupsText({ toolGroups }: Role): string {
  return toolGroups === null ? "all" : toolGroups.join(", ")
}

function holdersOf(org: App["org"], role: Role): readonly Sourced<{ id: string }>[] {
  return org.listAgents().filter(({ roleId }) => roleId === role.id)
}
