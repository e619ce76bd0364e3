import { createHash } from "node:crypto"
import fc from "fast-check"
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { dirname, join, relative } from "node:path"
import { expect, test } from "vitest"
import { identifyPerson, savePersonToken, tokenForConfiguration, type IdentityClaim } from "./identify-person.ts"
import { makeFolders, problemsOf } from "./testing.ts"

/** An organisation with ann and bob, each with a token, and the built-in agents. */
function makeClaim(home: string, claim: Partial<IdentityClaim> = {}): IdentityClaim {
  const tokens: Record<string, string> = { "token-of-ann": "ann", "token-of-bob": "bob" }
  const people = ["ann", "bob", "here"]
  const org = {
    findPerson: (id: string) => (people.includes(id) ? { status: "active" } : undefined),
    personOfToken: (token: string) => (tokens[token] === undefined ? undefined : { id: tokens[token] }),
    findAgent: (id: string) => (["root", "operator", "dev"].includes(id) ? {} : undefined),
  }
  return { as: undefined, home, env: {}, dataDir: dataOf(home), org, login: "zoe", ...claim }
}

/** A data folder beside home. */
const dataOf = (home: string, project = "shop") => join(dirname(home), project, ".quartermaster")
const placeOf = (home: string, project?: string) => ({ home, env: {}, dataDir: dataOf(home, project) })

/** The file of a person's token for a data folder. */
function tokenFileOf(home: string, id = "ann", project = "shop"): string {
  const hash = createHash("sha256").update(dataOf(home, project)).digest("hex").slice(0, 12)
  return join(home, ".config", "quartermaster", "people", `${project}-${hash}`, `${id}.token`)
}

const ownToken = (home: string) => join(home, ".config", "quartermaster", "person.token")
const sentence = (claim: IdentityClaim) => problemsOf(() => identifyPerson(claim)).map((problem) => problem.sentence)

test("without --as it is the user of this machine, proved by a private file created once", () => {
  const { home } = makeFolders()
  expect(identifyPerson(makeClaim(home))).toEqual({ id: "zoe", proved: `the file ${ownToken(home)}` })
  const before = readFileSync(ownToken(home), "utf8")
  expect(before).toMatch(/^qmp_[\w-]{43}\n$/)
  expect(statSync(ownToken(home)).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(ownToken(home))).mode & 0o777).toBe(0o700)
  identifyPerson(makeClaim(home))
  expect(readFileSync(ownToken(home), "utf8")).toBe(before)
})

test("the login name comes from the operating system", () => {
  const { home } = makeFolders()
  const { login: _, ...claim } = makeClaim(home)
  const org = { ...claim.org, findAgent: () => undefined }
  expect(identifyPerson({ ...claim, org }).id).toBe(userInfo().username)
})

test.each([
  ["readable by others", (file: string) => chmodSync(file, 0o640), "Other users can read this file. Run: chmod 600"],
  ["writable by others", (file: string) => chmodSync(file, 0o602), "Other users can read this file. Run: chmod 600"],
  ["a link", (file: string) => (rmSync(file), symlinkSync("/dev/null", file)), "This is a link"],
  ["a folder", (file: string) => (rmSync(file), mkdirSync(file)), "This is not a file"],
  ["damaged", (file: string) => writeFileSync(file, "qmp_short"), "is damaged. Delete it"],
  ["empty", (file: string) => writeFileSync(file, ""), "is damaged. Delete it"],
  ["huge", (file: string) => writeFileSync(file, "x".repeat(5000)), "larger than 4096 bytes"],
])("a token file that is %s proves nothing", (_, spoil, words) => {
  const { home } = makeFolders()
  identifyPerson(makeClaim(home))
  spoil(ownToken(home))
  expect(sentence(makeClaim(home))).toEqual([expect.stringContaining(words)])
  expect(sentence(makeClaim(home, { as: "ann", env: { QM_PERSON_TOKEN: "token-of-ann" } }))).toHaveLength(1)
})

test.runIf(process.getuid?.() === 0)("a token file of somebody else proves nothing", () => {
  const { home } = makeFolders()
  identifyPerson(makeClaim(home))
  chownSync(ownToken(home), 65534, 65534)
  expect(sentence(makeClaim(home))).toEqual([expect.stringContaining("belongs to another user")])
})

test("without a writable token file no identity is proved", () => {
  const { home } = makeFolders()
  writeFileSync(join(home, ".config"), "in the way")
  expect(sentence(makeClaim(home))).toEqual([expect.stringMatching(/cannot be created \((ENOTDIR|EEXIST)\)/)])
})

test("no person is identified inside a tool", () => {
  const { home } = makeFolders()
  const env = { QM_INSIDE: "1", QM_PERSON_TOKEN: "token-of-ann" }
  for (const as of [undefined, "ann"]) {
    expect(sentence(makeClaim(home, { as, env }))).toEqual([expect.stringContaining("QM_INSIDE is set")])
  }
  expect(problemsOf(() => savePersonToken("ann", "token-of-ann", { ...placeOf(home), env }))).toHaveLength(1)
  expect(statSync(join(home, ".config"), { throwIfNoEntry: false })).toBeUndefined()
})

test("--as is proved by the person's own token in a file or a variable", () => {
  const { home } = makeFolders()
  const ann = makeClaim(home, { as: "ann" })
  const file = tokenFileOf(home)
  expect(sentence(ann)).toEqual([
    `Nothing here proves that you are 'ann'. Put the token that 'qm people create' showed into ${file} with mode 600, or into QM_PERSON_TOKEN.`,
  ])
  const env = { QM_PERSON_TOKEN: "token-of-ann" }
  expect(identifyPerson({ ...ann, env })).toEqual({ id: "ann", proved: "the token in QM_PERSON_TOKEN" })
  for (const token of ["token-of-bob", "token-of-an", "token-of-ann2", "constructor"]) {
    expect(sentence({ ...ann, env: { QM_PERSON_TOKEN: token } })).toEqual([
      expect.stringContaining("The token found here does not prove that you are 'ann'."),
    ])
  }
  expect(savePersonToken("ann", "token-of-ann", placeOf(home))).toBe(file)
  expect(identifyPerson(ann)).toEqual({ id: "ann", proved: `the token in ${file}` })
  expect(identifyPerson({ ...ann, env: { QM_PERSON_TOKEN: "token-of-bob" } })).toEqual({
    id: "ann",
    proved: `the token in ${file}`,
  })
  savePersonToken("bob", "token-of-ann", placeOf(home))
  expect(sentence(makeClaim(home, { as: "bob" }))).toHaveLength(1)
  chmodSync(file, 0o644)
  expect(sentence(ann)).toEqual([expect.stringContaining("Other users can read this file")])
})

test("two data folders of one login keep the tokens of their people apart", () => {
  const { home } = makeFolders()
  const claimIn = (project: string, token: string) => {
    const { org } = makeClaim(home)
    const personOfToken = (given: string) => (given === token ? { id: "ann" } : undefined)
    return makeClaim(home, { as: "ann", dataDir: dataOf(home, project), org: { ...org, personOfToken } })
  }
  const [shop, site] = [claimIn("shop", "token-of-shop"), claimIn("site", "token-of-site")]
  expect(savePersonToken("ann", "token-of-shop", placeOf(home, "shop"))).toBe(tokenFileOf(home, "ann", "shop"))
  expect(savePersonToken("ann", "token-of-site", placeOf(home, "site"))).toBe(tokenFileOf(home, "ann", "site"))
  expect(identifyPerson(shop).proved).toBe(`the token in ${tokenFileOf(home, "ann", "shop")}`)
  expect(identifyPerson(site).proved).toBe(`the token in ${tokenFileOf(home, "ann", "site")}`)
  // Another checkout of the shop knows the same token.
  const checkout = claimIn("shop2", "token-of-shop")
  expect(identifyPerson(checkout).proved).toBe(`the token in ${tokenFileOf(home, "ann", "shop")}`)
  expect(sentence(claimIn("other", "token-of-other"))).toHaveLength(1)
})

test("a token directly in the folder of the tokens counts for every data folder that knows it", () => {
  const { home } = makeFolders()
  const ann = makeClaim(home, { as: "ann" })
  const file = join(home, ".config", "quartermaster", "people", "ann.token")
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, "token-of-ann\n", { mode: 0o600 })
  expect(identifyPerson(ann)).toEqual({ id: "ann", proved: `the token in ${file}` })
  chmodSync(file, 0o644)
  expect(sentence(ann)).toHaveLength(1)
})

test("a configured person's token is reused where it is known or saved for this folder, and nowhere else", () => {
  const { home } = makeFolders()
  const known = (token?: string) => ({
    personOfToken: (given: string) => (given === token ? { id: "ann" } : undefined),
  })
  const first = tokenForConfiguration("ann", placeOf(home), known())
  expect(first).toMatchObject({ isNew: true, file: tokenFileOf(home) })
  expect(tokenForConfiguration("ann", placeOf(home), known())).toEqual({ ...first, isNew: false })
  const checkout = tokenForConfiguration("ann", placeOf(home, "checkout"), known(first.token))
  expect(checkout).toEqual({ ...first, isNew: false })
  expect(tokenForConfiguration("ann", placeOf(home, "other"), known())).toMatchObject({
    isNew: true,
    file: tokenFileOf(home, "ann", "other"),
  })
})

test("a person of the configuration without a tokenHash is led to the command that makes one", () => {
  const { home } = makeFolders()
  const file = tokenFileOf(home)
  const claim = (tokenHash?: string) => makeClaim(home, { as: "ann", configured: [{ id: "ann", tokenHash }] })
  expect(sentence(claim())).toEqual([
    "Nothing here proves that you are 'ann'. In the configuration this person has no tokenHash. Run 'qm people token ann': it makes a token, and the line to write there.",
  ])
  expect(sentence(claim("0".repeat(64)))).toEqual([
    `Nothing here proves that you are 'ann'. Put the token that 'qm people token' showed into ${file} with mode 600, or into QM_PERSON_TOKEN.`,
  ])
})

test.each(["carl", "dev", "root", ""])("--as %j names no person", (as) => {
  const { home } = makeFolders()
  const env = { QM_PERSON_TOKEN: "token-of-ann" }
  expect(sentence(makeClaim(home, { as, env }))).toEqual([
    expect.stringMatching(/There is no person|cannot be a person's name/),
  ])
})

test("a person whose name is written nearly right is guessed", () => {
  const { home } = makeFolders()
  const claim = makeClaim(home, { as: "anne" })
  const org = { ...claim.org, listPeople: () => [{ id: "bob" }, { id: "ann" }] }
  expect(sentence({ ...claim, org })).toEqual(["There is no person 'anne'. Did you mean 'ann'?"])
})

test("a deleted person is not identified", () => {
  const { home } = makeFolders()
  const claim = makeClaim(home, { as: "ann", env: { QM_PERSON_TOKEN: "token-of-ann" } })
  expect(sentence({ ...claim, org: { ...claim.org, findPerson: () => ({ status: "deleted" }) } })).toEqual([
    "There is no person 'ann'. 'qm people list' shows all people.",
  ])
})

test.each([
  ["an agent has the login's name", "root", {}, {}, "root@localhost"],
  ["a person with a token has it, and the token is not here", "ann", {}, {}, "ann@localhost"],
  ["a person with a token has it, and it is here", "ann", { QM_PERSON_TOKEN: "token-of-ann" }, {}, "ann"],
  ["another person's token is here", "ann", { QM_PERSON_TOKEN: "token-of-bob" }, {}, "ann@localhost"],
  ["the configuration names the user without a token", "here", {}, { configured: [{ id: "here" }] }, "here"],
  [
    "the configuration names a person with a token",
    "here",
    {},
    { configured: [{ id: "here", tokenHash: "0".repeat(64) }] },
    "here@localhost",
  ],
])("a login is never identified as another person or agent: %s", (_, login, env, more, id) => {
  const { home } = makeFolders()
  expect(identifyPerson(makeClaim(home, { login, env, ...more })).id).toBe(id)
})

test("a configured person without a token is the user of this machine with that name, and nobody else", () => {
  const { home } = makeFolders()
  const configured = [{ id: "here" }]
  expect(identifyPerson(makeClaim(home, { as: "here", login: "here", configured })).id).toBe("here")
  expect(sentence(makeClaim(home, { as: "here", login: "zoe", configured }))).toHaveLength(1)
})

test("no person id leads out of the token folder", () => {
  const { home } = makeFolders()
  const folder = dirname(tokenFileOf(home))
  const steps = fc.array(fc.constantFrom("..", ".", "/", "\\", "ann", "\0", "\n", ":", "-", "_", "~", "$HOME", "ä"), {
    maxLength: 5,
  })
  fc.assert(
    fc.property(
      fc.oneof(
        steps.map((parts) => parts.join("")),
        fc.string(),
      ),
      (id) => {
        const file = join(folder, `${id}.token`)
        const inside = relative(folder, file) === `${id}.token` && /^[A-Za-z0-9_:-][A-Za-z0-9_.:-]{0,99}$/.test(id)
        const problems = problemsOf(() => expect(savePersonToken(id, "token", placeOf(home))).toBe(file))
        expect(problems.length).toBe(inside ? 0 : 1)
        expect(problemsOf(() => identifyPerson(makeClaim(home, { as: id })))).toHaveLength(1)
      },
    ),
    { numRuns: 300, examples: [[".."], ["../ann"], ["ann/../bob"], [".hidden"], ["ann\0"], [""], ["a".repeat(101)]] },
  )
})
