import { useId } from "react"
import { useWords } from "../words/words.tsx"
import type { Field, Raw } from "./schema-fields.ts"

interface Props {
  readonly fields: readonly Field[]
  readonly raw: Readonly<Record<string, Raw>>
  readonly wrong: Readonly<Record<string, string>>
  readonly change: (name: string, raw: Raw) => void
}

/** The fields of a tool's input or of an agent's form. */
export function SchemaForm({ fields, raw, wrong, change }: Props) {
  return (
    <div className="form">
      {fields.map((field) => (
        <OneField
          key={field.name}
          field={field}
          raw={raw[field.name]}
          wrong={wrong[field.name]}
          change={(next) => change(field.name, next)}
        />
      ))}
    </div>
  )
}

interface FieldProps {
  readonly field: Field
  readonly raw: Raw
  readonly wrong: string | undefined
  readonly change: (raw: Raw) => void
}

function OneField({ field, raw, wrong, change }: FieldProps) {
  const words = useWords()
  const id = useId()
  const about = [
    field.kind === "lines" ? words.answer.onePerLine : field.kind === "json" ? "JSON" : undefined,
    field.required ? words.answer.required : words.answer.optional,
  ]
  const described = {
    "aria-describedby": `${id}-hint`,
    ...(wrong === undefined ? {} : { "aria-invalid": true }),
  }
  const hint = (
    <span id={`${id}-hint`}>
      {field.description !== undefined && <span className="hint">{field.description}</span>}
      {wrong !== undefined && <span className="hint hint-wrong">{wrong}</span>}
    </span>
  )
  if (field.kind === "boolean")
    return (
      <label className="swrow">
        <input
          type="checkbox"
          role="switch"
          className="switch"
          checked={raw === true}
          onChange={(event) => change(event.target.checked)}
          {...described}
        />
        <span className="grow">
          <b className="mono">{field.label}</b>
          {hint}
        </span>
      </label>
    )
  const value = typeof raw === "string" ? raw : ""
  return (
    <div className="field">
      <label className="lab" htmlFor={id}>
        <span className="mono">{field.label}</span>
        <span className="dim">{about.filter(Boolean).join(", ")}</span>
      </label>
      <Control field={field} id={id} value={value} change={change} described={described} />
      {hint}
    </div>
  )
}

interface ControlProps {
  readonly field: Field
  readonly id: string
  readonly value: string
  readonly change: (raw: Raw) => void
  readonly described: object
}

function Control({ field, id, value, change, described }: ControlProps) {
  const words = useWords()
  if (field.kind === "choice")
    return (
      <select
        id={id}
        className="in"
        value={value}
        onChange={(event) => change(event.target.value || undefined)}
        {...described}
      >
        {!field.required && <option value="">{words.answer.notSet}</option>}
        {field.required && value === "" && <option value="">{words.answer.choose}</option>}
        {field.options.map((option) => (
          <option key={String(option)}>{String(option)}</option>
        ))}
      </select>
    )
  if (field.kind === "number" || field.kind === "integer")
    return (
      <input
        id={id}
        className="in mono"
        inputMode={field.kind === "integer" ? "numeric" : "decimal"}
        value={value}
        onChange={(event) => change(event.target.value)}
        {...described}
      />
    )
  return (
    <textarea
      id={id}
      className="in mono"
      rows={Math.min(
        14,
        Math.max(field.kind === "text" ? 1 : 2, value.split("\n").length, Math.ceil(value.length / 90)),
      )}
      value={value}
      onChange={(event) => change(event.target.value)}
      {...described}
    />
  )
}
