import { randomBytes } from "node:crypto"
import { userInfo } from "node:os"
import { join } from "node:path"
import { ownFolder } from "./find.ts"
import type { Environment } from "./interpolate.ts"
import { createPrivateFile, readPrivateFile, writePrivateFile } from "./private-file.ts"
import { ConfigError } from "./problem.ts"

/** The variable that may hold a person's token, for machines without a file of it. */
export const tokenVariable = "QM_PERSON_TOKEN"

/** Who speaks, and by what that is proved. */
export interface Speaker {
  id: string
  proved: string
}

/** What must be known of the organisation to tell who speaks. */
export interface Acquaintances {
  findPerson(id: string): { status: string } | undefined
  /** The live person a token belongs to. */
  personOfToken(token: string): { id: string } | undefined
  findAgent(id: string): object | undefined
}

export interface Claim {
  /** The person of `--as`. */
  as: string | undefined
  home: string
  env: Environment
  org: Acquaintances
  /** The people of the configuration. Who has no token there is the user of this machine with that name. */
  configured?: readonly { id: string; tokenHash?: string | undefined }[] | undefined
  /** The system's name for the user. */
  login?: string | undefined
}

/**
 * Who sits at the command line: the person of `--as`, proved by a token, else the system's user, proved by a file that
 * only that user can read. Throws a sentence when it is not proved. Nobody sits inside a tool.
 */
export function whoIs(claim: Claim): Speaker {
  const { as, home, env, login = loginName() } = claim
  refuseInside("--as", env)
  const proof = ownProof(home)
  return as === undefined ? userHere(claim, login, proof) : personNamed(claim, as, login, proof)
}

/** Keeps a person's token where `--as` finds it; returns the file. */
export function keepPersonToken(id: string, token: string, home: string, env: Environment): string {
  const file = tokenFile(id, home)
  refuseInside(file, env)
  writePrivateFile(file, `${token}\n`)
  return file
}

/** The login's name means a person or an agent only where that is proved; else it is told apart from them. */
function userHere(claim: Claim, login: string, proof: string): Speaker {
  const { org } = claim
  if (org.findPerson(login)?.status === "active") {
    const proved = isUserHere(claim, login) ? proof : tokenProof(claim, login)
    if (proved !== undefined) return { id: login, proved }
  } else if (org.findAgent(login) === undefined) return { id: login, proved: proof }
  return { id: `${login}@localhost`, proved: proof }
}

function personNamed(claim: Claim, as: string, login: string, proof: string): Speaker {
  const file = tokenFile(as, claim.home)
  if (claim.org.findPerson(as)?.status !== "active") {
    throw refused("--as", `There is no person '${as}'. 'qm people list' shows who there is.`)
  }
  const proved = as === login && isUserHere(claim, as) ? proof : tokenProof(claim, as)
  if (proved !== undefined) return { id: as, proved }
  const what = tokensFor(claim, as).length === 0 ? "Nothing here proves" : "The token found here does not prove"
  const help = `Put the token that 'qm people create' showed into ${file} with mode 600, or into ${tokenVariable}.`
  throw refused("--as", `${what} that you are '${as}'. ${help}`)
}

function isUserHere({ configured = [] }: Claim, id: string): boolean {
  return configured.some((person) => person.id === id && person.tokenHash === undefined)
}

function tokenProof(claim: Claim, id: string): string | undefined {
  const found = tokensFor(claim, id).find(({ token }) => claim.org.personOfToken(token)?.id === id)
  return found && `the token in ${found.where}`
}

function tokensFor({ home, env }: Claim, id: string): { where: string; token: string }[] {
  const file = isPlainName(id) ? tokenFile(id, home) : undefined
  const given = [
    { where: tokenVariable, token: env[tokenVariable]?.trim() },
    { where: file ?? "", token: file && readPrivateFile(file)?.trim() },
  ]
  return given.flatMap(({ where, token }) => (token ? [{ where, token }] : []))
}

/** The file of the user of this machine, made on first use. That it can be read here is the proof. */
function ownProof(home: string): string {
  const file = join(ownFolder(home), "person.token")
  try {
    if (readPrivateFile(file) === undefined) createPrivateFile(file, `qmp_${randomBytes(32).toString("base64url")}\n`)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const why = (error as NodeJS.ErrnoException).code
    throw refused(file, `The file that proves who you are cannot be made (${why}). Make the folder writable for you.`)
  }
  if (!/^qmp_[\w-]{43}\s*$/.test(readPrivateFile(file) ?? "")) {
    throw refused(file, "The file that proves who you are is damaged. Delete it; a new one is made by itself.")
  }
  return `the file ${file}`
}

function tokenFile(id: string, home: string): string {
  if (isPlainName(id)) return join(ownFolder(home), "people", `${id}.token`)
  throw refused("--as", `'${id}' cannot be a person's name here. Use letters, digits and _ . : -, and no dot first.`)
}

/** Names that are one step of a path and nothing else. */
function isPlainName(id: string): boolean {
  return /^(?!\.)[A-Za-z0-9_.:-]{1,100}$/.test(id)
}

function refuseInside(file: string, env: Environment): void {
  if (!env["QM_INSIDE"]) return
  throw refused(file, "This runs inside a tool (QM_INSIDE is set), where nobody is a person. Use your own terminal.")
}

function refused(file: string, sentence: string): ConfigError {
  return new ConfigError([{ file, key: "", sentence }])
}

/** An account without a name, as containers have it, is called by its number. */
function loginName(): string {
  try {
    return userInfo().username
  } catch {
    return `user-${process.getuid?.() ?? 0}`
  }
}
