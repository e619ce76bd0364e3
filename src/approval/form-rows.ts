import { wanted, type FormChoice, type FormField } from "../model/form.ts"
import { oneLine } from "./card-rows.ts"

/** What is not shown of a form whose text is cut. */
const most = { choices: 12, characters: 300 }

/** A field for the card, a line for each thing that is known about it. Everything in it is its author's text. */
export function fieldText(field: FormField, whole: boolean): string {
  const shown = (text: string) => oneLine(text, whole ? Infinity : most.characters)
  const { name, title, description, required, fallback, choices, kind } = field
  const listed = choices.slice(0, whole ? Infinity : most.choices).map((choice) => shown(choiceText(choice)))
  const more = choices.length > listed.length ? [`… ${choices.length - listed.length} more`] : []
  return [
    `${shown(name)}: ${wanted(field)}${required ? ", required" : ""}`,
    ...(title === undefined ? [] : [`    ${shown(title)}`]),
    ...(description === undefined ? [] : [`    ${shown(description)}`]),
    ...(kind === "one" || kind === "several"
      ? [...listed, ...more].map((text, place) => `    ${place < listed.length ? `${place + 1}. ` : ""}${text}`)
      : []),
    ...(fallback === undefined ? [] : [`    ${shown(fallbackText(field))} when left empty`]),
  ].join("\n")
}

/** A choice by what a person reads, with what is sent for it. */
export function choiceText({ value, title }: FormChoice): string {
  const text = valueText(value)
  return title === undefined ? text : `${title} (${text})`
}

/** What is sent for a field that is left empty. */
export function fallbackText({ fallback, choices }: FormField): string {
  const one = (value: unknown) => choiceText(choices.find((choice) => choice.value === value) ?? { value })
  return Array.isArray(fallback) ? fallback.map(one).join(", ") || "none of them" : one(fallback)
}

/** A value as a person would write it. */
export function valueText(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no"
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "")
}
