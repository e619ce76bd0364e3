import { isObject } from "../../../src/lib/is-object.ts"
import { useState } from "react"
import { useWords } from "../words/words.tsx"
import { SchemaField } from "./schema-field.tsx"
import { pathOf, propertiesOf, withValue, type Schema } from "./schema.ts"
import { Icon } from "../ui/icon.tsx"
import look from "./form.module.css"

export interface FormProps {
  readonly schema: Schema
  readonly value: unknown
  readonly change: (value: unknown) => void
  /** The problems that the server found, by path. */
  readonly problems: Readonly<Record<string, string>>
  /** The path of the object that is edited. */
  readonly path?: string
}

/** The number of fields shown before those that may be left out are folded. */
const mostShown = 5

/** The fields of an object. Those that may be left out and are empty are folded when there are many. */
export function SchemaForm({ schema, value, change, problems, path = "" }: FormProps) {
  const [unfolded, setUnfolded] = useState(false)
  const properties = propertiesOf(schema)
  const object = isObject(value) ? value : {}
  const isNeeded = ({ name, required }: (typeof properties)[number], at: number) =>
    unfolded ||
    properties.length <= mostShown + 1 ||
    at < mostShown ||
    required ||
    object[name] !== undefined ||
    problems[pathOf(path, name)] !== undefined
  const folded = properties.filter((property, at) => !isNeeded(property, at))
  return (
    <div className={look["sf"]} data-fields>
      {properties.filter(isNeeded).map(({ name, schema: each, required }) => (
        <SchemaField
          key={name}
          label={name}
          path={pathOf(path, name)}
          schema={each}
          required={required}
          value={object[name]}
          change={(next) => change(withValue(value, name, next))}
          problems={problems}
        />
      ))}
      {folded.length > 0 && <Unfold names={folded.map(({ name }) => name)} unfold={() => setUnfolded(true)} />}
    </div>
  )
}

function Unfold({ names, unfold }: { names: readonly string[]; unfold: () => void }) {
  const words = useWords()
  return (
    <button type="button" className={`btn btn-s btn-q ${look["sf-more"]}`} onClick={unfold}>
      <Icon name="plus" small />
      <span className="cut">{words.form.more(names.join(", "))}</span>
    </button>
  )
}
