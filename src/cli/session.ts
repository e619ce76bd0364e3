import type { App } from "../model/app.ts"
import { messageOf } from "../model/message.ts"
import type { Actor } from "../model/organisation-book.ts"
import type { Io, Loaded, OpenOptions, Session } from "./house.ts"
import { say } from "./output.ts"
import { NotAllowed, settings } from "./usage.ts"

/** The configuration this command counts with. What is wrong but not fatal is said once. */
export async function load(session: Session): Promise<Loaded> {
  const { house, flags } = session
  const loaded = await house.loadConfig({ configPath: flags.config, overrides: settings(flags.set, flags.data) })
  for (const warning of loaded.warnings) say(session, `Warning: ${warning}`)
  return loaded
}

/** Opens the house for one piece of work and closes it whatever happens. */
export async function withApp<T>(
  session: Session,
  options: OpenOptions,
  work: (app: App, loaded: Loaded) => T | Promise<T>,
): Promise<T> {
  const loaded = await load(session)
  const app = await session.house.open(loaded, options)
  try {
    return await work(app, loaded)
  } finally {
    // Where the command line is all there is, nobody else ends what nobody came back for. It can wait for the next one.
    await app.sweep().catch(() => {})
    await app.close()
  }
}

/** The same for a person who changes or answers something: whoever `--as` names, else the user of this machine. */
export function withPerson(
  session: Session,
  work: (app: App, by: Actor, loaded: Loaded) => Promise<number>,
): Promise<number> {
  return withApp(session, {}, async (app, loaded) => work(app, await personOf(session, app, loaded), loaded))
}

/** Who that is, if it can be proved. */
export async function personOf({ house, flags }: Session, app: App, loaded: Loaded): Promise<Actor> {
  try {
    const { id } = await house.whoIs(flags.as, loaded, app)
    return { kind: "person", id }
  } catch (error) {
    throw new NotAllowed(messageOf(error))
  }
}

/** Whether a person sits here who can be asked. A program that an agent started may hold a terminal; it is no person. */
export function isAttended(io: Io): boolean {
  return !isInside(io) && io.stdin.isTTY && io.stderr.isTTY && io.isInForeground?.() !== false
}

export function isInside({ env }: Io): boolean {
  return Boolean(env["QM_INSIDE"])
}
