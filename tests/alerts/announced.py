# SPDX-License-Identifier: Apache-2.0
"""Families that alerts and boards may name before the program has them."""

# Families that the contract fixes and the program does not have yet, with the known values of
# their labels. One that it has by now does not belong here, and a test says so.
ANNOUNCED = {}
