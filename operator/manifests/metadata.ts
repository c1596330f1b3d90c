// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'
import {
  isQualifiedName,
  isSubdomain,
  keyForm,
  labelValue,
  subdomainForm,
  valueForm,
} from '../api/labels.ts'

const key = z.string().refine(isQualifiedName, `the key must have ${keyForm}`)
const annotationKey = z
  .string()
  .refine((name) => isQualifiedName(name.toLowerCase()), `the key must have ${keyForm}`)
const inQuotes = z.string('must be a text: put it in quotes')

/** The metadata of a manifest, as far as it is judged without an API server. */
export const metadataSchema = z.looseObject({
  name: inQuotes.refine(isSubdomain, `must have ${subdomainForm}`),
  namespace: inQuotes.regex(
    /^[a-z\d](?:[-a-z\d]{0,61}[a-z\d])?$/,
    'must have at most 63 lower-case letters, digits and -, and letters or digits at both ends',
  ),
  labels: z
    .record(key, inQuotes.regex(labelValue, `must have ${valueForm}`), 'must be a map of texts')
    .optional(),
  annotations: z.record(annotationKey, inQuotes, 'must be a map of texts').optional(),
  finalizers: z.array(inQuotes.refine(isQualifiedName, `must have ${keyForm}`)).optional(),
})
