import type { App } from "../model/app.ts"
import { lostAgents } from "../model/lost-agents.ts"
import { messageOf } from "../model/message.ts"
import { frozenText } from "./agents.ts"
import { broken, missing, note, ok, type Finding } from "./finding.ts"
import type { Loaded, Session } from "./house.ts"
import { flawText } from "./rule-text.ts"
import { isInside } from "./session.ts"

/** What only the open house can tell: whether it opens, who you are, and what in it needs a look. */
export async function checkHouse(session: Session, loaded: Loaded): Promise<Finding[]> {
  const { house } = session
  let app: App | undefined
  try {
    const { name, version } = await house.sqlite()
    app = await house.open(loaded)
    const { total } = await app.audit.stats()
    return [
      ok(`SQLite ${version} (${name}) opens the store, which has ${total} calls.`),
      await checkPerson(session, loaded, app),
      ...app.rules.flaws().map((flaw) => note(`Rule: ${flawText(flaw)}`)),
      ...lostAgents(app.org.listAgents()).map(note),
      ...app.frozen().map((freeze) => note(`Frozen: ${frozenText(freeze)}.`)),
      ...(await checkCovered(session, loaded, app.org)),
      ...checkSandbox(app),
    ]
  } catch (error) {
    return [broken(messageOf(error))]
  } finally {
    await app?.close()
  }
}

async function checkPerson({ io, house, flags }: Session, loaded: Loaded, app: App): Promise<Finding> {
  if (isInside(io)) return note("This runs inside a tool (QM_INSIDE is set), where nobody is a person.")
  try {
    const { id, proved } = await house.whoIs(flags.as, loaded, app)
    return ok(`You are ${id}, proved by ${proved}.`)
  } catch (error) {
    return broken(messageOf(error))
  }
}

/** What holds a command, as it was tried, and what follows from it. */
function checkSandbox(app: App): Finding[] {
  try {
    const layer = app.sandbox?.()
    if (layer === undefined) return []
    if (layer.kind === "bubblewrap") {
      return [
        ok(
          "Commands run in the sandbox bubblewrap: they write in the workspace only, and have no network unless it is asked for.",
        ),
      ]
    }
    return [
      missing(
        `Commands run without a sandbox, because ${layer.because}. Each has your own rights, so it always asks unless it is proved harmless.`,
      ),
    ]
  } catch (error) {
    return [broken(messageOf(error))]
  }
}

/** What is kept but does not count, because the configuration has the same names. */
async function checkCovered({ house }: Session, loaded: Loaded, org: App["org"]): Promise<Finding[]> {
  if (loaded.config.org === undefined) return []
  const { org: _, ...config } = loaded.config
  const stored = await house.open({ ...loaded, config })
  try {
    return coveredNames(namesIn(stored.org), namesIn(org)).map((what) =>
      note(`The configuration and the store both have ${what}; the configuration's counts. Rename one of them.`),
    )
  } finally {
    await stored.close()
  }
}

/** What is written where: `role developer` to its source. */
type Names = ReadonlyMap<string, string>

function namesIn(org: App["org"]): Names {
  const live = [
    ...org.listRoles().map(({ name, status, source }) => ({ name: `role ${name}`, status, source })),
    ...org.listAgents().map(({ id, status, source }) => ({ name: `agent ${id}`, status, source })),
    ...org.listDepartments().map(({ id, status, source }) => ({ name: `department ${id}`, status, source })),
    ...org.listPeople().map(({ id, status, source }) => ({ name: `person ${id}`, status, source })),
  ].filter(({ status }) => status === "active")
  return new Map(live.map(({ name, source }) => [name, source]))
}

/** The names of the store that stand for something else once the configuration is read. */
export function coveredNames(alone: Names, together: Names): string[] {
  return [...alone].flatMap(([name, source]) => {
    const now = together.get(name)
    return source === "store" && now !== undefined && now !== "store" ? [name] : []
  })
}
