import { createHash } from "node:crypto"
import { readdirSync, realpathSync } from "node:fs"
import { userInfo } from "node:os"
import { basename, dirname, join, resolve } from "node:path"
import { userConfigFolder } from "./find.ts"
import { nearestName } from "../lib/nearest-name.ts"
import { hashToken, newPersonToken } from "../lib/person-token.ts"
import type { Environment } from "./interpolate.ts"
import { createPrivateFile, readPrivateFile, writePrivateFile } from "./private-file.ts"
import { ConfigError } from "./config-error.ts"

/** The environment variable for a person's token, instead of a file. */
export const tokenVariable = "QM_PERSON_TOKEN"

/** A person, and what proves their identity. */
export interface IdentifiedPerson {
  id: string
  proved: string
}

/** The parts of the organisation that identifying a person needs. */
export interface KnownIdentities {
  findPerson(id: string): { status: string } | undefined
  /** The live person a token belongs to. */
  personOfToken(token: string, which?: "expired"): { id: string } | undefined
  findAgent(id: string): object | undefined
  /** For a name that is close to the one that was given. */
  listPeople?(): readonly { id: string }[]
}

/** The place for the tokens of people: for each data folder apart, because each has people of its own. */
export interface TokenPlace {
  home: string
  env: Environment
  dataDir: string
}

export interface IdentityClaim extends TokenPlace {
  /** The person of `--as`. */
  as: string | undefined
  org: KnownIdentities
  /** The configured people. One without a token is the user of this machine with that name. */
  configured?: readonly { id: string; tokenHash?: string }[]
  /** The login name of the user. */
  login?: string
}

/**
 * Identifies the person at the command line: the person of `--as`, proved by a token, otherwise the user of this
 * machine, proved by a file that only that user can read. Throws if the identity is not proved, and always inside a
 * tool.
 */
export function identifyPerson(claim: IdentityClaim): IdentifiedPerson {
  const { as, home, env, login = loginName() } = claim
  refuseInside("--as", env)
  const proof = machineUserProof(home)
  return as === undefined ? userOfMachine(claim, login, proof) : personNamed(claim, as, login, proof)
}

/** Saves a person's token where `--as` finds it. Returns the file. */
export function savePersonToken(id: string, token: string, place: TokenPlace): string {
  const file = tokenFile(id, place)
  refuseInside(file, place.env)
  writePrivateFile(file, `${token}\n`)
  return file
}

/**
 * The token of a person of the configuration, for `tokenHash`: the one that proves them or that is saved for this
 * folder, otherwise a new one, which is saved. It proves nothing until a trusted configuration has its hash.
 */
export function tokenForConfiguration(
  id: string,
  place: TokenPlace,
  org: Pick<KnownIdentities, "personOfToken">,
): { file: string; token: string; tokenHash: string; isNew: boolean } {
  const own = tokenFile(id, place)
  refuseInside(own, place.env)
  const saved = savedTokens(id, place)
  const found =
    saved.find(({ token }) => org.personOfToken(token)?.id === id) ?? saved.find(({ where }) => where === own)
  if (found !== undefined)
    return { file: found.where, token: found.token, tokenHash: hashToken(found.token), isNew: false }
  const made = newPersonToken()
  savePersonToken(id, made.token, place)
  return { file: own, ...made, isNew: true }
}

/**
 * A login that has the name of another person or an agent is called `<login>@localhost`, unless a token proves it is
 * that person.
 */
function userOfMachine(claim: IdentityClaim, login: string, proof: string): IdentifiedPerson {
  const { org } = claim
  if (org.findPerson(login)?.status === "active") {
    const proved = isConfiguredLogin(claim, login) ? proof : tokenProof(claim, login)
    if (proved !== undefined) return { id: login, proved }
  } else if (org.findAgent(login) === undefined) return { id: login, proved: proof }
  return { id: `${login}@localhost`, proved: proof }
}

function personNamed(claim: IdentityClaim, as: string, login: string, proof: string): IdentifiedPerson {
  const file = tokenFile(as, claim)
  if (claim.org.findPerson(as)?.status !== "active") {
    const guess = nearestName(as, claim.org.listPeople?.().map(({ id }) => id) ?? [])
    const help = guess === undefined ? "'qm people list' shows all people." : `Did you mean '${guess}'?`
    throw refused("--as", `There is no person '${as}'. ${help}`)
  }
  const proved = as === login && isConfiguredLogin(claim, as) ? proof : tokenProof(claim, as)
  if (proved !== undefined) return { id: as, proved }
  const found = tokensFor(claim, as)
  if (found.some(({ token }) => claim.org.personOfToken(token, "expired")?.id === as))
    throw refused("--as", `Your token as '${as}' has expired. 'qm people token ${as}', without --as, makes a new one.`)
  const what = found.length === 0 ? "Nothing here proves" : "The token found here does not prove"
  throw refused("--as", `${what} that you are '${as}'. ${helpFor(claim, as, file)}`)
}

function helpFor(claim: IdentityClaim, as: string, file: string): string {
  if (isConfiguredLogin(claim, as))
    return `In the configuration this person has no tokenHash. Run 'qm people token ${as}': it makes a token, and the line to write there.`
  const command = claim.configured?.some(({ id }) => id === as) === true ? "token" : "create"
  return `Put the token that 'qm people ${command}' showed into ${file} with mode 600, or into ${tokenVariable}.`
}

function isConfiguredLogin({ configured = [] }: IdentityClaim, id: string): boolean {
  return configured.some((person) => person.id === id && person.tokenHash === undefined)
}

function tokenProof(claim: IdentityClaim, id: string): string | undefined {
  const found = tokensFor(claim, id).find(({ token }) => claim.org.personOfToken(token)?.id === id)
  return found && `the token in ${found.where}`
}

interface FoundToken {
  where: string
  token: string
}

function tokensFor(claim: IdentityClaim, id: string): FoundToken[] {
  const given = claim.env[tokenVariable]?.trim()
  const saved = isPlainName(id) ? savedTokens(id, claim) : []
  return given ? [{ where: tokenVariable, token: given }, ...saved] : saved
}

/**
 * The saved tokens of a person of this name: that of this data folder first, then those of other folders. One of those
 * proves somebody only where the same token is known, for example in another checkout of the project.
 */
function savedTokens(id: string, place: TokenPlace): FoundToken[] {
  const own = tokenFile(id, place)
  const others = otherTokenFiles(id, place.home).filter((file) => file !== own)
  return [...tokenIn(own), ...others.flatMap((file) => tokenIn(file, "others"))]
}

/** Throws for the folder's own file when other users can read it; such a file of another folder does not count. */
function tokenIn(file: string, whose?: "others"): FoundToken[] {
  try {
    const token = readPrivateFile(file)?.trim()
    return token ? [{ where: file, token }] : []
  } catch (error) {
    if (whose === "others" && error instanceof ConfigError) return []
    throw error
  }
}

/** The file directly in the folder counts for every data folder. */
function otherTokenFiles(id: string, home: string): string[] {
  const folder = peopleFolder(home)
  const file = `${id}.token`
  try {
    const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    return [join(folder, file), ...folders.map(({ name }) => join(folder, name, file))]
  } catch {
    return []
  }
}

/** The identity file of the user of this machine, created on first use. Being able to read it is the proof. */
function machineUserProof(home: string): string {
  const file = join(userConfigFolder(home), "person.token")
  try {
    if (readPrivateFile(file) === undefined) createPrivateFile(file, `${newPersonToken().token}\n`)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const why = (error as NodeJS.ErrnoException).code
    throw refused(
      file,
      `The file that proves your identity cannot be created (${why}). Make the folder writable for you.`,
    )
  }
  if (!/^qmp_[\w-]{43}\s*$/.test(readPrivateFile(file) ?? "")) {
    throw refused(file, "The file that proves your identity is damaged. Delete it; a new one is created automatically.")
  }
  return `the file ${file}`
}

function tokenFile(id: string, { home, dataDir }: TokenPlace): string {
  if (isPlainName(id)) return join(peopleFolder(home), nameOf(dataDir), `${id}.token`)
  throw refused(
    "--as",
    `'${id}' cannot be a person's name here. Use letters, digits and _ . : - and do not begin with a dot.`,
  )
}

function peopleFolder(home: string): string {
  return join(userConfigFolder(home), "people")
}

/** A name for the data folder: that of its project, for people, and a hash of its path. */
function nameOf(dataDir: string): string {
  const path = realPath(resolve(dataDir))
  const hash = createHash("sha256").update(path).digest("hex").slice(0, 12)
  const project = basename(dirname(path)).replace(/[^A-Za-z0-9_-]/g, "")
  return `${project.slice(0, 40) || "data"}-${hash}`
}

/** The real path, also of a folder that is not made yet. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return dirname(path) === path ? path : join(realPath(dirname(path)), basename(path))
  }
}

/** Reports whether the name is a single, harmless part of a path. */
function isPlainName(id: string): boolean {
  return /^(?!\.)[A-Za-z0-9_.:-]{1,100}$/.test(id)
}

function refuseInside(file: string, env: Environment): void {
  if (!env["QM_INSIDE"]) return
  throw refused(
    file,
    "This runs inside a tool (QM_INSIDE is set), so no person can be identified. Use your own terminal.",
  )
}

function refused(file: string, sentence: string): ConfigError {
  return new ConfigError([{ file, key: "", sentence }])
}

/** An account without a name, as in containers, is called by its number. */
export function loginName(): string {
  try {
    return userInfo().username
  } catch {
    return `user-${process.getuid?.() ?? 0}`
  }
}
