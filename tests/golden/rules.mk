# SPDX-License-Identifier: Apache-2.0
TEST_LIBS_golden := -ldnnl
