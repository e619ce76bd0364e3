import { useId, type ReactNode } from "react"
import { Select } from "../ui/select.tsx"
import { useWords } from "../words/words.tsx"
import { JsonField, ListField, MapField, NumberField } from "./fields.tsx"
import { SchemaForm } from "./schema-form.tsx"
import { describedBy, kindOf, optionsOf, rangeOf, typeOf, type Schema } from "./schema.ts"
import look from "./form.module.css"

export interface FieldProps {
  readonly label: string
  readonly path: string
  readonly schema: Schema
  readonly required: boolean
  readonly value: unknown
  readonly change: (value: unknown) => void
  readonly problems: Readonly<Record<string, string>>
}

/** The ids that tie a control to its label, its description and its problem. */
export interface Described {
  readonly id: string
  readonly "aria-describedby": string
  readonly "aria-invalid"?: true
}

/** One field, by what its schema says. */
export function SchemaField(props: FieldProps) {
  const { label, path, schema, required, value, change, problems } = props
  const words = useWords()
  const id = useId()
  const kind = kindOf(schema)
  const problem = problems[path]
  const described: Described = {
    id,
    "aria-describedby": `${id}-hint`,
    ...(problem === undefined ? {} : { "aria-invalid": true }),
  }
  const hint = (
    <span id={`${id}-hint`}>
      {describedBy(schema) !== undefined && <span className="hint">{describedBy(schema)}</span>}
      {problem !== undefined && <span className="hint sf-wrong">{problem}</span>}
    </span>
  )
  if (kind === "boolean")
    return (
      <label className="swrow">
        <input
          {...described}
          type="checkbox"
          role="switch"
          className={look["sf-switch"]}
          checked={value === undefined ? schema["default"] === true : value === true}
          onChange={(event) => change(event.target.checked || required ? event.target.checked : undefined)}
        />
        <span className="grow">
          <b className="mono">{label}</b>
          {hint}
        </span>
      </label>
    )
  if (kind === "object" || kind === "list" || kind === "map")
    return (
      <fieldset className={look["sf-set"]} aria-describedby={`${id}-hint`}>
        <legend className="lab">
          <span className="mono">{label}</span>
          <span className="dim">
            {words.form[kind]}
            {required && <Required />}
          </span>
        </legend>
        {hint}
        <Nested {...props} kind={kind} />
      </fieldset>
    )
  return (
    <div className="field">
      <label className="lab" htmlFor={id}>
        <span className="mono">{label}</span>
        <span className="dim">
          <Kind schema={schema} kind={kind} />
          {required && <Required />}
        </span>
      </label>
      <Control {...props} described={described} kind={kind} />
      {hint}
    </div>
  )
}

function Required() {
  const words = useWords()
  return <span className={look["sf-req"]}>{words.form.andRequired}</span>
}

function Kind({ schema, kind }: { schema: Schema; kind: string }) {
  const words = useWords()
  if (kind === "json") return "JSON"
  if (kind === "text or JSON") return words.form.textOrJson
  if (kind === "choice") return words.form.choice
  if (kind === "text") return words.form.text
  const { from, to } = rangeOf(schema)
  if (from !== undefined && to !== undefined) return words.form.between(from, to)
  if (from !== undefined) return words.form.from(from)
  if (to !== undefined) return words.form.upTo(to)
  return typeOf(schema) === "integer" ? words.form.integer : words.form.number
}

function Nested({ kind, schema, value, change, path, problems }: FieldProps & { kind: "object" | "list" | "map" }) {
  if (kind === "object")
    return <SchemaForm schema={schema} value={value} change={change} path={path} problems={problems} />
  if (kind === "map") return <MapField value={value} change={change} />
  return <ListField schema={schema} value={value} change={change} path={path} problems={problems} />
}

function Control({
  kind,
  schema,
  required,
  value,
  change,
  described,
}: FieldProps & { described: Described; kind: string }): ReactNode {
  const words = useWords()
  const standard = schema["default"]
  const placeholder = standard === undefined || typeof standard === "object" ? "" : String(standard)
  if (kind === "number") return <NumberField {...described} value={value} change={change} placeholder={placeholder} />
  if (kind === "json" || (kind === "text or JSON" && value !== undefined && typeof value !== "string"))
    return <JsonField {...described} value={value} change={change} />
  if (kind === "choice") {
    const options = optionsOf(schema)
    const at = options.indexOf(value as string)
    return (
      <Select
        {...described}
        value={at === -1 ? "" : String(at)}
        onChange={(event) => change(event.target.value === "" ? undefined : options[Number(event.target.value)])}
      >
        <option value="">
          {required ? words.answer.choose : placeholder === "" ? words.answer.notSet : words.form.standard(placeholder)}
        </option>
        {options.map((option, index) => (
          <option key={String(option)} value={index}>
            {String(option)}
          </option>
        ))}
      </Select>
    )
  }
  const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)
  return (
    <textarea
      {...described}
      className={`in mono ${look["sf-text"]}`}
      rows={1}
      placeholder={placeholder}
      value={text}
      spellCheck={false}
      onChange={(event) => change(event.target.value === "" && !required ? undefined : event.target.value)}
    />
  )
}
