import type { Language } from "./languages.ts"

/**
 * The tree-sitter query for declarations. Each pattern captures a declaration by its kind, and its `@name`. If two patterns
 * share a name node, the first one wins. A `@scope` only encloses others. An `@owner` is written before the name.
 */
export function outlineQuery(language: Language): string {
  return queries[language]
}

const functionValue = "[(arrow_function) (function_expression) (generator_function)]"

const script = `
(function_declaration name: (_) @name) @function
(generator_function_declaration name: (_) @name) @function
(function_expression name: (_) @name) @function
(class_declaration name: (_) @name) @class
(class name: (_) @name) @class
(method_definition name: (_) @name) @method
(variable_declarator name: (identifier) @name value: ${functionValue}) @function
(variable_declarator name: (identifier) @name value: (class)) @class
(variable_declarator name: (identifier) @name) @variable
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name)) @variable
(variable_declarator name: (object_pattern (pair_pattern value: (identifier) @name))) @variable
(variable_declarator name: (object_pattern (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name))) @variable
(variable_declarator name: (object_pattern (rest_pattern (identifier) @name))) @variable
(variable_declarator name: (array_pattern (identifier) @name)) @variable
(variable_declarator name: (array_pattern (assignment_pattern left: (identifier) @name))) @variable
(variable_declarator name: (array_pattern (rest_pattern (identifier) @name))) @variable
(for_in_statement kind: _ left: (identifier) @name @variable)
(pair key: (property_identifier) @name value: ${functionValue}) @method
(assignment_expression left: (member_expression property: (property_identifier) @name) right: ${functionValue}) @function
`

const typed = `${script}
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(type_alias_declaration name: (_) @name) @type
(enum_declaration name: (_) @name) @enum
(enum_body (property_identifier) @name @constant)
(enum_assignment name: (_) @name) @constant
(internal_module name: (_) @name) @module
(module name: (_) @name) @module
(function_signature name: (_) @name) @function
(method_signature name: (_) @name) @method
(abstract_method_signature name: (_) @name) @method
(public_field_definition name: (_) @name value: ${functionValue}) @method
(public_field_definition name: (_) @name) @field
(property_signature name: (_) @name) @field
(ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name))) @variable
(required_parameter (accessibility_modifier) pattern: (identifier) @name) @field
`

/** Names in C are deep inside declarators; `declaredBy` goes up to what they declare. */
const cNames =
  "[(identifier) (field_identifier) (qualified_identifier) (destructor_name) (operator_name) (operator_cast) (template_function)]"

const queries: Record<Language, string> = {
  typescript: typed,
  tsx: typed,
  javascript: `${script}
(field_definition property: (_) @name value: ${functionValue}) @method
(field_definition property: (_) @name) @field
`,
  python: `
(class_definition name: (_) @name) @class
(function_definition name: (_) @name) @function
(assignment left: (identifier) @name right: (lambda)) @function
(assignment left: (identifier) @name) @variable
(assignment left: (pattern_list (identifier) @name)) @variable
(assignment left: (tuple_pattern (identifier) @name)) @variable
(assignment left: (attribute object: (identifier) @self attribute: (identifier) @name) (#eq? @self "self")) @field
(named_expression name: (identifier) @name) @variable
(for_statement left: (identifier) @name @variable)
(for_statement left: (pattern_list (identifier) @name @variable))
(as_pattern alias: (as_pattern_target (identifier) @name)) @variable
(type_alias_statement left: (type (identifier) @name)) @type
`,
  go: `
(function_declaration name: (_) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: (type_identifier) @owner)) name: (_) @name) @method
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type (type_identifier) @owner))) name: (_) @name) @method
(method_declaration receiver: (parameter_list (parameter_declaration type: (generic_type type: (type_identifier) @owner))) name: (_) @name) @method
(method_declaration receiver: (parameter_list (parameter_declaration type: (pointer_type (generic_type type: (type_identifier) @owner)))) name: (_) @name) @method
(method_declaration name: (_) @name) @method
(type_spec name: (_) @name type: (struct_type)) @struct
(type_spec name: (_) @name type: (interface_type)) @interface
(type_spec name: (_) @name) @type
(type_alias name: (_) @name) @type
(method_elem name: (_) @name) @method
(field_declaration name: (_) @name) @field
(const_spec name: (identifier) @name) @constant
(var_spec name: (identifier) @name value: (expression_list (func_literal))) @function
(var_spec name: (identifier) @name) @variable
(short_var_declaration left: (expression_list (identifier) @name) right: (expression_list (func_literal))) @function
(short_var_declaration left: (expression_list (identifier) @name)) @variable
(range_clause left: (expression_list (identifier) @name @variable))
`,
  rust: `
(function_item name: (_) @name) @function
(function_signature_item name: (_) @name) @function
(struct_item name: (_) @name) @struct
(enum_item name: (_) @name) @enum
(union_item name: (_) @name) @union
(trait_item name: (_) @name) @trait
(impl_item type: (type_identifier) @name) @scope
(impl_item type: (generic_type type: (type_identifier) @name)) @scope
(impl_item type: (scoped_type_identifier name: (type_identifier) @name)) @scope
(mod_item name: (_) @name) @module
(macro_definition name: (_) @name) @macro
(type_item name: (_) @name) @type
(associated_type name: (_) @name) @type
(const_item name: (_) @name) @constant
(static_item name: (_) @name) @variable
(enum_variant name: (_) @name) @constant
(field_declaration name: (_) @name) @field
(let_declaration pattern: (identifier) @name value: (closure_expression)) @function
(let_declaration pattern: (identifier) @name) @variable
(let_declaration pattern: (_ (identifier) @name)) @variable
(for_expression pattern: (identifier) @name @variable)
`,
  java: `
(class_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @interface
(annotation_type_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(enum_constant name: (_) @name) @constant
(method_declaration name: (_) @name) @method
(constructor_declaration name: (_) @name) @method
(compact_constructor_declaration name: (_) @name) @method
(annotation_type_element_declaration name: (_) @name) @method
(field_declaration declarator: (variable_declarator name: (_) @name)) @field
(constant_declaration declarator: (variable_declarator name: (_) @name)) @constant
(local_variable_declaration declarator: (variable_declarator name: (_) @name value: (lambda_expression))) @function
(local_variable_declaration declarator: (variable_declarator name: (_) @name)) @variable
(record_declaration parameters: (formal_parameters (formal_parameter name: (_) @name) @field))
(enhanced_for_statement name: (_) @name @variable)
`,
  cpp: `
(function_declarator declarator: ${cNames} @name) @function
(struct_specifier name: (_) @name body: (_)) @struct
(class_specifier name: (_) @name body: (_)) @class
(union_specifier name: (_) @name body: (_)) @union
(enum_specifier name: (_) @name body: (_)) @enum
(enumerator name: (_) @name) @constant
(namespace_definition name: (_) @name) @module
(concept_definition name: (_) @name) @type
(alias_declaration name: (_) @name) @type
(type_definition type: (struct_specifier body: (_)) declarator: (type_identifier) @name) @struct
(type_definition type: (union_specifier body: (_)) declarator: (type_identifier) @name) @union
(type_definition type: (enum_specifier body: (_)) declarator: (type_identifier) @name) @enum
(type_definition declarator: (type_identifier) @name) @type
(pointer_declarator declarator: (type_identifier) @name) @type
(array_declarator declarator: (type_identifier) @name) @type
(function_declarator declarator: (type_identifier) @name) @type
(preproc_def name: (_) @name) @macro
(preproc_function_def name: (_) @name) @macro
(init_declarator declarator: (identifier) @name value: (lambda_expression)) @function
(init_declarator declarator: [(identifier) (qualified_identifier)] @name) @variable
(declaration declarator: (identifier) @name) @variable
(field_declaration declarator: (field_identifier) @name) @field
(pointer_declarator declarator: [(identifier) (field_identifier)] @name) @variable
(array_declarator declarator: [(identifier) (field_identifier)] @name) @variable
(reference_declarator [(identifier) (field_identifier)] @name) @variable
`,
}
