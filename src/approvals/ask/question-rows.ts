import type { Question } from "../../core/approval.ts"
import { formFields } from "../../schema/form.ts"
import type { JsonSchema } from "../../core/schema.ts"
import { paintHost, readLinkAddress } from "./link-address.ts"
import { askingServer } from "../../core/mcp.ts"
import { quoteName } from "./card-rows.ts"
import { fieldText } from "./form-rows.ts"
import { longLimit, shortLimit, type CardStyle } from "./card-style.ts"

const mostFields = 20

/** A question for the card, with its options, the fields of its form, or the address to open. */
export function questionRows(item: Question, tool: string, style: CardStyle): string[] {
  const { question, options, multiple, form, url } = item
  const server = askingServer(tool)
  const title = server === undefined ? "question" : `question of the MCP server ${quoteName(server)}`
  return [
    ...style.titledBlock(title, question),
    ...(form === undefined ? [] : formRows(form, server, style)),
    ...(url === undefined ? [] : addressRows(url, style)),
    ...(options === undefined || options.length === 0 ? [] : optionRows(options, multiple === true, style)),
  ]
}

function optionRows(options: readonly string[], multiple: boolean, { line, block, paint }: CardStyle): string[] {
  return [
    ...line(multiple ? "options, one or more:" : "options, one of:", paint.dim),
    ...options.flatMap((option, place) => block(`${place + 1}. ${option}`, shortLimit)),
  ]
}

function formRows(form: JsonSchema, server: string | undefined, { line, block, paint, whole }: CardStyle): string[] {
  const fields = formFields(form)
  const shown = fields.slice(0, whole ? Infinity : mostFields)
  const hidden = fields.length - shown.length
  return [
    ...line(`fields of the form, ${fields.length}:`, paint.dim),
    ...shown.flatMap((field) => block(fieldText(field, whole), longLimit)),
    ...(hidden === 0 ? [] : line(`… ${hidden} more: only in the whole view.`, paint.yellow)),
    ...line(
      `What is filled in goes to ${server === undefined ? "the tool that asks" : `the MCP server ${quoteName(server)}`}. Give no passwords and no keys here.`,
      paint.yellow,
    ),
  ]
}

function addressRows(url: string, { line, titledBlock, paint }: CardStyle): string[] {
  const { host, warnings } = readLinkAddress(url)
  const sentences = [...warnings, "A link from an agent's server is not proved safe."]
  return [
    ...titledBlock("address to open", url, longLimit, () => paintHost(url, paint.bold)),
    ...line(`it leads to: ${host === "" ? "an unknown host" : quoteName(host)}`, paint.bold),
    ...line(`${sentences.join(" ")} Open it only if you know this host; nothing here opens it.`, paint.yellow),
  ]
}
