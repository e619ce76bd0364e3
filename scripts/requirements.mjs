/**
 * Prints which requirements have a proof: a test whose title names the id, `[S0-70]`.
 *
 *   node scripts/requirements.mjs [--json] [--only S0,S1] [--expect <file>]
 *
 * Exit 1 when a title names an id that does not exist or more than three ids, or when an id of the
 * `--expect` file (one per line, `#` begins a comment) has no proof. A line without proof alone is no error.
 * A title is no proof when the test does not run (`skip`, `todo`, `fails`, inside a skipped `describe`),
 * or when it stands in a contract suite that no test file imports.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { basename, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const root = fileURLToPath(new URL("..", import.meta.url))
const idPattern = /(?:S\d+R?|C|D)-\d+(?:\.\d+)?/
const mostIdsPerTitle = 3

const { values: options } = parseArgs({
  options: { json: { type: "boolean" }, only: { type: "string" }, expect: { type: "string" } },
})

const requirements = readRequirements(join(root, "docs/requirements.md"))
const titles = readTitles(join(root, "src"))
const excused = readExcused(join(root, "docs/designs.md"))
const report = judge({ requirements, titles, excused, expected: readExpected(options.expect) })
print(report, { json: options.json === true, only: options.only?.split(",") })
process.exitCode = report.errors.length > 0 ? 1 : 0

/** @returns {Map<string, string>} id to sentence, in the order of the file. */
function readRequirements(path) {
  const lines = readFileSync(path, "utf8").matchAll(new RegExp(`^- (${idPattern.source}) (.*)$`, "gm"))
  return new Map([...lines].map(([, id, sentence]) => [id, sentence]))
}

/** Every title under a folder, with where it stands and whether its test runs. */
function readTitles(folder) {
  if (!existsSync(folder)) return []
  const paths = readdirSync(folder, { recursive: true }).map((name) => join(folder, name))
  const tests = paths.filter((path) => path.endsWith(".test.ts")).map(readSource)
  const contracts = paths.filter((path) => path.endsWith(".contract.ts")).map(readSource)
  const isImported = ({ path }) => tests.some(({ text }) => text.includes(basename(path, ".ts")))
  return [
    ...tests.flatMap((source) => titlesOf(source)),
    ...contracts.flatMap((source) =>
      titlesOf(source).map((title) => ({ ...title, runs: title.runs && isImported(source) })),
    ),
  ]
}

function readSource(path) {
  return { path, text: readFileSync(path, "utf8") }
}

/** Ids at the beginning of the lines under "Not built, because ...", up to the next heading of that rank. */
function readExcused(path) {
  const ids = new Set()
  if (!existsSync(path)) return ids
  let rank = 0
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const heading = /^(#+)\s+(.*)/.exec(line)
    if (heading && (rank === 0 || heading[1].length <= rank)) {
      rank = heading[2].startsWith("Not built, because") ? heading[1].length : 0
    } else if (rank > 0) {
      const beginning = new RegExp(`^[\\s*|-]*((?:[\\[\`*]*${idPattern.source}[\\]\`*]*[,;\\s]*(?:and\\s+)?)+)`)
      for (const id of beginning.exec(line)?.[1].match(new RegExp(idPattern, "g")) ?? []) ids.add(id)
    }
  }
  return ids
}

function readExpected(path) {
  if (path === undefined) return []
  if (!existsSync(path)) stop(`There is no file ${path} with expected ids.`)
  const lines = readFileSync(path, "utf8").split("\n")
  return lines.map((line) => line.replace(/#.*/, "").trim()).filter((line) => line !== "")
}

function judge({ requirements, titles, excused, expected }) {
  const errors = []
  const notes = []
  const proofs = new Map()
  for (const { title, place, runs, stray } of titles) {
    const ids = idsIn(title)
    if (stray) {
      notes.push(`${place}: a string that is no title names ${ids.join(", ")}; it proves nothing.`)
      continue
    }
    if (ids.length > mostIdsPerTitle) {
      errors.push(`${place}: a title names ${ids.length} ids, at most ${mostIdsPerTitle} are believed: "${title}"`)
    }
    for (const id of ids) {
      if (!requirements.has(id)) {
        errors.push(`${place}: [${id}] is no id of docs/requirements.md. Write each id in its own brackets.`)
      } else if (runs) proofs.set(id, [...(proofs.get(id) ?? []), place])
    }
  }
  for (const id of excused) {
    if (!requirements.has(id)) errors.push(`docs/designs.md: ${id} is excused, but is no id of docs/requirements.md.`)
  }
  for (const id of expected) {
    if (!requirements.has(id)) errors.push(`Expected ${id} is no id of docs/requirements.md.`)
    else if (!proofs.has(id)) errors.push(`Expected a proof of ${id}: ${cut(requirements.get(id))}`)
  }
  const lines = [...requirements].map(([id, sentence]) => ({
    id,
    design: id.slice(0, id.indexOf("-")),
    sentence,
    proofs: proofs.get(id) ?? [],
    excused: excused.has(id),
  }))
  return { lines, errors, notes }
}

function idsIn(title) {
  return [...title.matchAll(/\[((?:S\d+R?|C|D)-\d[^\]]*)\]/g)].map(([, id]) => id)
}

function print({ lines, errors, notes }, { json, only }) {
  const names = [...new Set(lines.map(({ design }) => design))]
  for (const name of only ?? []) {
    if (!names.includes(name)) stop(`There is no design ${name}. Choose from ${names.join(", ")}.`)
  }
  const designs = (only ?? names).map((design) =>
    summarize(
      design,
      lines.filter((line) => line.design === design),
    ),
  )
  if (json) return console.log(JSON.stringify({ designs, errors, notes }, null, 2))

  for (const { design, open } of designs) {
    if (open.length > 0) console.log(`${design}, without proof:`)
    for (const { id, sentence } of open) console.log(`  ${id.padEnd(8)} ${cut(sentence)}`)
  }
  console.log("\ndesign   proved  excused     open    total")
  for (const { design, proved, excused, open, total } of [...designs, addUp(designs)]) {
    const counts = [proved.length, excused.length, open.length, total]
    console.log(design.padEnd(6) + counts.map((count) => String(count).padStart(9)).join(""))
  }
  for (const note of notes) console.error(`note: ${note}`)
  for (const error of errors) console.error(`error: ${error}`)
}

/** A line that is both excused and proved counts as proved. */
function summarize(design, lines) {
  const open = lines.filter((line) => line.proofs.length === 0 && !line.excused)
  return {
    design,
    total: lines.length,
    proved: lines.filter((line) => line.proofs.length > 0).map(({ id, proofs }) => ({ id, proofs })),
    excused: lines.filter((line) => line.proofs.length === 0 && line.excused).map(({ id }) => id),
    open: open.map(({ id, sentence }) => ({ id, sentence })),
  }
}

function addUp(designs) {
  return {
    design: "all",
    total: designs.reduce((sum, { total }) => sum + total, 0),
    proved: designs.flatMap(({ proved }) => proved),
    excused: designs.flatMap(({ excused }) => excused),
    open: designs.flatMap(({ open }) => open),
  }
}

function cut(sentence) {
  const characters = [...sentence]
  return characters.length <= 100 ? sentence : `${characters.slice(0, 99).join("")}…`
}

function stop(message) {
  console.error(message)
  process.exit(2)
}

/**
 * The titles of one file: of `test`, `it` and `describe`, of `test.each(table)("title", ...)`, of a helper in the
 * file that hands its first parameter on as a title, and the cells of a table whose title has a place for them.
 * Other strings that name an id come out as `stray`: they prove nothing.
 */
function titlesOf({ path, text }) {
  const tokens = tokensOf(text)
  const closes = pairBrackets(tokens)
  const words = new Set(["test", "it", "describe", ...helpersIn(tokens, closes)])
  const calls = tokens.flatMap((_, index) => readCall(tokens, closes, index, words) ?? [])
  const inside = (call, outer) => outer.open < call.open && call.close <= outer.close
  const isDead = (call) => calls.some((outer) => outer.off && (outer === call || inside(call, outer)))
  const isHollow = (call) => {
    const tests = calls.filter((other) => other.word !== "describe" && inside(other, call))
    return call.word === "describe" && tests.length > 0 && tests.every(isDead)
  }
  const placeOf = (at) => `${relative(root, path)}:${text.slice(0, at).split("\n").length}`
  const titles = calls.flatMap((call) => {
    const runs = !isDead(call) && !isHollow(call)
    const whole = {
      title: call.strings.map((string) => string.text).join(""),
      place: placeOf(call.at),
      runs,
    }
    return [whole, ...call.cells.map((cell) => ({ title: cell.text, place: placeOf(cell.at), runs }))]
  })
  const known = new Set(calls.flatMap(({ strings, cells }) => [...strings, ...cells]))
  const strays = tokens.filter((token) => namesId(token) && !known.has(token))
  return [
    ...titles,
    ...strays.map((token) => ({
      title: token.text,
      place: placeOf(token.at),
      runs: false,
      stray: true,
    })),
  ]
}

function isString({ kind }) {
  return kind === "string" || kind === "template"
}

function namesId(token) {
  return isString(token) && idsIn(token.text).length > 0
}

/** Reads `word.modifier(...)("title", ...)` at a token; the last pair of parentheses holds the title. */
function readCall(tokens, closes, index, words) {
  const { kind, text: word, at } = tokens[index]
  if (kind !== "name" || !words.has(word) || tokens[index - 1]?.text === ".") return undefined
  const { modifiers, groups } = readChain(tokens, closes, index + 1)
  const open = groups.at(-1)
  if (open === undefined) return undefined
  const close = closes.get(open)
  const comma = nextComma(tokens, closes, open + 1, close)
  const strings = stringsIn(tokens, closes, open + 1, comma)
  if (strings.length === 0) return undefined
  const off = modifiers.some(isOff) || comma + 1 >= close || hasOffOption(tokens, closes, comma + 1)
  const hasPlaces = groups.length > 1 && strings.some(({ text }) => /[%$]/.test(text))
  const cells = hasPlaces ? tableAt(tokens, closes, groups.at(-2)).filter(namesId) : []
  return { word, strings, cells, at, open, close, off }
}

/** What follows the word: `.each`, type arguments, a tagged table, and where each pair of parentheses opens. */
function readChain(tokens, closes, start) {
  const modifiers = []
  const groups = []
  let next = start
  for (;;) {
    const token = tokens[next]
    if (token?.text === "." && token.kind === "sign") {
      modifiers.push(tokens[next + 1]?.text)
      next += 2
    } else if (token?.text === "<") {
      next = afterTypeArguments(tokens, next)
    } else if (token?.kind === "template") {
      next += 1
    } else if (token?.text === "(" && closes.has(next)) {
      groups.push(next)
      next = closes.get(next) + 1
    } else return { modifiers, groups }
  }
}

/** The tokens of the table between these parentheses, or of the constant of this file that is named there. */
function tableAt(tokens, closes, open) {
  const inline = tokens.slice(open + 1, closes.get(open))
  if (inline.length !== 1 || inline[0].kind !== "name") return inline
  const declared = tokens.findIndex(({ text }, index) => text === inline[0].text && tokens[index - 1]?.text === "const")
  if (declared === -1) return []
  let value = declared
  while (value < tokens.length && tokens[value].text !== "=") value = (closes.get(value) ?? value) + 1
  return tokens.slice(value + 1, closes.get(value + 1) ?? value + 1)
}

/** Names of `function law(title, ...)` and `const law = (title, ...) =>` whose body has `it(title, ...)`. */
function helpersIn(tokens, closes) {
  return tokens.flatMap(({ text: name }, index) => {
    const before = tokens[index - 1]?.text
    if (before !== "function" && !(before === "const" && tokens[index + 1]?.text === "=")) return []
    let open = before === "const" ? index + 2 : index + 1
    if (tokens[open]?.text === "async") open += 1
    if (tokens[open]?.text === "<") open = afterTypeArguments(tokens, open)
    if (tokens[open]?.text !== "(" || !closes.has(open)) return []
    const title = tokens[open + 1].text
    let body = closes.get(open) + 1
    while (body < tokens.length && !["{", "=>"].includes(tokens[body].text)) body += 1
    if (tokens[body]?.text === "=>") body += 1
    const end = closes.get(body) ?? body + 1
    const inner = tokens.slice(body, end).some((_, offset) => handsOn(tokens, closes, body + offset, title))
    return inner ? [name] : []
  })
}

function handsOn(tokens, closes, index, title) {
  if (!["test", "it", "describe"].includes(tokens[index].text)) return false
  const { modifiers, groups } = readChain(tokens, closes, index + 1)
  const first = tokens[(groups.at(-1) ?? tokens.length) + 1]
  if (first === undefined || modifiers.some(isOff)) return false
  return first.kind === "template" ? first.text.includes(`\${${title}}`) : first.kind === "name" && first.text === title
}

function isOff(modifier) {
  return modifier === "skip" || modifier === "todo" || modifier === "fails"
}

/** `test("title", { skip: true }, ...)`. */
function hasOffOption(tokens, closes, start) {
  if (tokens[start]?.text !== "{") return false
  const option = tokens.slice(start, closes.get(start))
  return option.some(
    ({ text }, index) => isOff(text) && option[index + 1]?.text === ":" && option[index + 2]?.text === "true",
  )
}

function afterTypeArguments(tokens, start) {
  let depth = 0
  for (let index = start; index < tokens.length; index += 1) {
    if (tokens[index].text === "<") depth += 1
    if (tokens[index].text === ">") depth -= 1
    if (depth === 0) return index + 1
  }
  return tokens.length
}

function nextComma(tokens, closes, start, end) {
  for (let index = start; index < end; index = (closes.get(index) ?? index) + 1) {
    if (tokens[index].text === "," && tokens[index].kind === "sign") return index
  }
  return end
}

function stringsIn(tokens, closes, start, end) {
  const strings = []
  for (let index = start; index < end; index = (closes.get(index) ?? index) + 1) {
    if (isString(tokens[index])) strings.push(tokens[index])
  }
  return strings
}

/** @returns {Map<number, number>} index of each opening bracket to the index of its closing one. */
function pairBrackets(tokens) {
  const closes = new Map()
  const waiting = []
  tokens.forEach(({ kind, text }, index) => {
    if (kind !== "sign") return
    if ("([{".includes(text)) waiting.push(index)
    else if (")]}".includes(text) && waiting.length > 0) closes.set(waiting.pop(), index)
  })
  return closes
}

/** Cuts TypeScript into names, strings, templates and signs. Comments and regular expressions are left out. */
function tokensOf(source) {
  const pattern =
    /(?<comment>\/\/.*|\/\*[^]*?\*\/)|(?<string>"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*')|(?<name>[\p{L}\p{N}_$#]+)|(?<sign>=>|[^\s])/uy
  const tokens = []
  let at = 0
  while (at < source.length) {
    pattern.lastIndex = at
    const match = pattern.exec(source)
    if (match === null) {
      at += 1
    } else if (match.groups.sign === "`") {
      const end = endOfTemplate(source, at)
      tokens.push({ kind: "template", text: source.slice(at + 1, end - 1), at })
      at = end
    } else if (match.groups.sign === "/" && beginsExpression(tokens.at(-1))) {
      at = endOfRegularExpression(source, at)
      tokens.push({ kind: "regular expression", text: "", at })
    } else {
      at = pattern.lastIndex
      const { string, name, sign } = match.groups
      if (string !== undefined) tokens.push({ kind: "string", text: string.slice(1, -1), at: match.index })
      if (name !== undefined) tokens.push({ kind: "name", text: name, at: match.index })
      if (sign !== undefined) tokens.push({ kind: "sign", text: sign, at: match.index })
    }
  }
  return tokens
}

/** A slash after this token begins a regular expression, not a division. */
function beginsExpression(token) {
  if (token === undefined) return true
  if (token.kind === "name") return ["return", "typeof", "case", "in", "of", "await", "yield"].includes(token.text)
  return token.kind === "sign" && !")]}".includes(token.text)
}

function endOfRegularExpression(source, start) {
  const match = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y
  match.lastIndex = start
  return match.test(source) ? match.lastIndex : start + 1
}

function endOfTemplate(source, start) {
  let at = start + 1
  while (at < source.length && source[at] !== "`") {
    if (source.startsWith("${", at)) at = endOfHole(source, at + 2)
    else at += source[at] === "\\" ? 2 : 1
  }
  return at + 1
}

function endOfHole(source, start) {
  let depth = 1
  let at = start
  while (at < source.length && depth > 0) {
    if (source[at] === "`") at = endOfTemplate(source, at)
    else {
      if (source[at] === "{") depth += 1
      if (source[at] === "}") depth -= 1
      at += 1
    }
  }
  return at
}
