"""Judges a JUnit file: by pytest's schema junit-10.xsd, which must lie beside this Python's environment as `.ci/junit-judges` puts it,
and by junitparser. Prints tests, failures, errors and skipped, as junitparser counts them."""

import pathlib
import sys

import junitparser
import xmlschema

file = sys.argv[1]
schema = xmlschema.XMLSchema(pathlib.Path(sys.prefix) / "junit-10.xsd")
for error in schema.iter_errors(file):
    sys.exit(f"the schema says: {error.reason} at {error.path}")
xml = junitparser.JUnitXml.fromfile(file)
# Counted from the cases, not taken from the file's own attributes.
said = (xml.tests, xml.failures, xml.errors, xml.skipped)
xml.update_statistics()
if said != (xml.tests, xml.failures, xml.errors, xml.skipped):
    sys.exit(f"the file counts {said}")
print(*said)
