module karmada-policy-exporter/tests/e2e/writers

go 1.26
