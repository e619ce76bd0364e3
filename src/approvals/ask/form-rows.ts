import { describeField, type FormChoice, type FormField } from "../../schema/form.ts"
import { oneLine } from "./card-rows.ts"

/** Limits the shown part of a field unless the whole is wanted. */
const limits = { choices: 12, characters: 300 }

/** A field of a form as text for the card. All of it was written by the author of the form. */
export function fieldText(field: FormField, whole: boolean): string {
  const shown = (text: string) => oneLine(text, whole ? Infinity : limits.characters)
  const { name, title, description, required, defaultValue, choices, kind } = field
  const listed = choices.slice(0, whole ? Infinity : limits.choices).map((choice) => shown(choiceText(choice)))
  const more = choices.length > listed.length ? [`… ${choices.length - listed.length} more`] : []
  return [
    `${shown(name)}: ${describeField(field)}${required ? ", required" : ""}`,
    ...(title === undefined ? [] : [`    ${shown(title)}`]),
    ...(description === undefined ? [] : [`    ${shown(description)}`]),
    ...(kind === "one" || kind === "several"
      ? [...listed, ...more].map((text, place) => `    ${place < listed.length ? `${place + 1}. ` : ""}${text}`)
      : []),
    ...(defaultValue === undefined ? [] : [`    ${shown(fallbackText(field))} when left empty`]),
  ].join("\n")
}

/** A choice: its title, and the value that is sent for it. */
export function choiceText({ value, title }: FormChoice): string {
  const text = valueText(value)
  return title === undefined ? text : `${title} (${text})`
}

/** Says what is sent for a field that is left empty. */
export function fallbackText({ defaultValue, choices }: FormField): string {
  const label = (value: unknown) => choiceText(choices.find((choice) => choice.value === value) ?? { value })
  return Array.isArray(defaultValue) ? defaultValue.map(label).join(", ") || "none of them" : label(defaultValue)
}

/** A value as a person would type it. */
export function valueText(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no"
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "")
}
