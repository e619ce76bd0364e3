import type { Question } from "../model/approval.ts"
import { formFields } from "../model/form.ts"
import type { JsonSchema } from "../model/schema.ts"
import { paintHost, readAddress } from "./address.ts"
import { named } from "./card-rows.ts"
import { fieldText } from "./form-rows.ts"
import { most, some, type Pen } from "./pen.ts"

const mostFields = 20

/** A question as a person reads it, with its options, the fields of its form, or the address it sends them to. */
export function questionRows(asked: Question, pen: Pen): string[] {
  const { question, options, multiple, form, url } = asked
  return [
    ...pen.titled("question", question),
    ...(form === undefined ? [] : formRows(form, pen)),
    ...(url === undefined ? [] : addressRows(url, pen)),
    ...(options === undefined || options.length === 0 ? [] : optionRows(options, multiple === true, pen)),
  ]
}

function optionRows(options: readonly string[], multiple: boolean, { line, block, paint }: Pen): string[] {
  return [
    ...line(multiple ? "options, one or more:" : "options, one of:", paint.dim),
    ...options.flatMap((option, place) => block(`${place + 1}. ${option}`, some)),
  ]
}

function formRows(form: JsonSchema, { line, block, paint, whole }: Pen): string[] {
  const fields = formFields(form)
  const shown = fields.slice(0, whole ? Infinity : mostFields)
  const hidden = fields.length - shown.length
  return [
    ...line(`fields of the form, ${fields.length}:`, paint.dim),
    ...shown.flatMap((field) => block(fieldText(field, whole), most)),
    ...(hidden === 0 ? [] : line(`… ${hidden} more: only in the whole view.`, paint.yellow)),
    ...line("What is filled in goes to the tool that asks. Give no passwords and no keys here.", paint.yellow),
  ]
}

function addressRows(url: string, { line, titled, paint }: Pen): string[] {
  const { host, warnings } = readAddress(url)
  const sentences = [...warnings, "A link from an agent's server is not proved safe."]
  return [
    ...titled("address to open", url, most, () => paintHost(url, paint.bold)),
    ...line(`it leads to: ${host === "" ? "nowhere that can be told" : named(host)}`, paint.bold),
    ...line(`${sentences.join(" ")} Open it only if you know this host; nothing here opens it.`, paint.yellow),
  ]
}
